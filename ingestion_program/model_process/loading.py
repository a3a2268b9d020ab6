"""Find and construct the participant's `Model`, and say precisely what is wrong when that fails."""

import difflib
import importlib.util
import inspect
import sys
import traceback
from pathlib import Path
from typing import Any


class LoadFailure(Exception):
    """The submission cannot be used; the fields are those of a problem."""

    def __init__(self, code: str, *, where: str, found: str, expected: str, fix: str) -> None:
        super().__init__(code)
        self.report = {"code": code, "where": where, "found": found, "expected": expected, "fix": fix}


def load_model(submission: Path) -> Any:  # noqa: ANN401 - a participant's object
    """Import `model.py` from `submission`, check its `Model` and return an instance.

    Raises
    ------
    LoadFailure
        With a code, what was found, what was expected and how to fix it.
    """
    module = _import(submission / "model.py", submission)
    model_class = getattr(module, "Model", None)
    if not inspect.isclass(model_class):
        classes = [name for name, value in vars(module).items() if inspect.isclass(value)]
        close = difflib.get_close_matches("Model", classes, n=1, cutoff=0.4)
        raise LoadFailure(
            "class_missing",
            where="model.py",
            found="classes " + ", ".join(classes) if classes else "no class",
            expected="a class called Model",
            fix=f"rename {close[0]} to Model" if close else "define class Model with __init__, predict and explain",
        )
    _check_signatures(model_class, submission)
    try:
        return model_class(submission)  # type: ignore[call-arg] # its signature was checked above
    except BaseException as error:  # noqa: BLE001 - SystemExit and friends are a participant's mistake too
        raise LoadFailure(
            "constructor_raised",
            where=location(error, submission),
            found=describe(error),
            expected="Model(assets) returns a model",
            fix=_hint(error),
        ) from None


def _import(path: Path, submission: Path) -> Any:  # noqa: ANN401 - a participant's module
    specification = importlib.util.spec_from_file_location("model", path)
    if specification is None or specification.loader is None:
        raise LoadFailure(
            "model_missing", where="submission", found="no model.py", expected="model.py at the top", fix="add model.py"
        )
    module = importlib.util.module_from_spec(specification)
    sys.modules["model"] = module
    sys.path.insert(0, str(submission))
    try:
        specification.loader.exec_module(module)
    except SyntaxError as error:
        line = f"{Path(error.filename or 'model.py').name} line {error.lineno}"
        raise LoadFailure(
            "syntax_error",
            where=line,
            found=f"{error.msg}: {(error.text or '').strip()}",
            expected=f"source that Python {sys.version_info.major}.{sys.version_info.minor} can read, in UTF-8",
            fix=f"correct {line}",
        ) from None
    except ModuleNotFoundError as error:
        raise LoadFailure(
            "module_missing",
            where=location(error, submission),
            found=f"import of {error.name!r}, which is not installed",
            expected="modules of your own folder, the standard library, or the packages of the image",
            fix=f"put {error.name!r} into your zip beside model.py, or do without it",
        ) from None
    except BaseException as error:  # noqa: BLE001 - whatever a participant's module raises
        raise LoadFailure(
            "import_raised",
            where=location(error, submission),
            found=describe(error),
            expected="a model.py that can be imported",
            fix=_hint(error),
        ) from None
    return module


def _check_signatures(model_class: Any, submission: Path) -> None:  # noqa: ANN401 - a participant's class
    examples: dict[str, tuple[object, ...]] = {
        "__init__": (None, submission),
        "predict": (None, None),
        "explain": (None, None, {}),
    }
    shapes = {"__init__": "(self, assets)", "predict": "(self, clip)", "explain": "(self, clip, prediction)"}
    for name, arguments in examples.items():
        method = getattr(model_class, name, None)
        wanted = f"{name}{shapes[name]}"
        if name == "__init__" and method is object.__init__:
            method = None
        if not callable(method):
            raise LoadFailure(
                "method_missing",
                where="model.py, class Model",
                found=f"no method {name}",
                expected=wanted,
                fix=f"add def {wanted}",
            )
        try:
            signature = inspect.signature(method)
            signature.bind(*arguments)
        except TypeError:
            raise LoadFailure(
                "signature_wrong",
                where=f"model.py, Model.{name}",
                found=f"{name}{signature}",
                expected=wanted,
                fix=f"write def {wanted}",
            ) from None
        except ValueError:
            continue  # a built-in without a signature; the call itself will tell
        if (
            inspect.iscoroutinefunction(method)
            or inspect.isgeneratorfunction(method)
            or inspect.isasyncgenfunction(method)
        ):
            raise LoadFailure(
                "signature_wrong",
                where=f"model.py, Model.{name}",
                found="an async function or a generator",
                expected="an ordinary method that returns its answer",
                fix="return the answer; do not yield or await",
            )


def describe(error: BaseException) -> str:
    """Return type and message of `error` in one line of at most 500 characters."""
    try:
        text = " ".join(str(error).split())
    except Exception:  # noqa: BLE001 - a participant's own exception class may be broken too
        text = ""
    return f"{type(error).__name__}: {text}"[:500] if text else type(error).__name__


def location(error: BaseException, submission: Path) -> str:
    """Return the file and line of the participant's own code where `error` came up, else `model.py`."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if path.is_relative_to(submission):
            return f"{path.relative_to(submission)} line {frame.lineno}, in {frame.name}"
    return "model.py"


def _hint(error: BaseException) -> str:
    if isinstance(error, FileNotFoundError):
        return "open files below the folder that the constructor receives: assets / 'weights.npz'"
    if isinstance(error, SystemExit | KeyboardInterrupt):
        return "do not end the process; raise an exception or return an answer"
    if isinstance(error, MemoryError):
        return "use less memory"
    return "run the same clip at home with `bundle run` and correct the line"
