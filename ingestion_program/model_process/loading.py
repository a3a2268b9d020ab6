"""Find and construct the participant's `Model`, or say precisely what is wrong."""

import codecs
import difflib
import importlib.util
import inspect
import sys
from pathlib import Path
from typing import Any

from model_process.failures import advise, describe, in_place_of, location, summarise

__all__ = ["LoadFailure", "describe", "load_model", "location"]
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
AT_HOME = "correct that line; test at home with `kit.py run` of the starting kit"


class LoadFailure(Exception):
    """The submission cannot be used; the fields are those of a problem."""

    def __init__(self, code: str, *, where: str, found: str, expected: str, fix: str) -> None:
        super().__init__(code)
        self.report = {"code": code, "where": where, "found": found, "expected": expected, "fix": fix}


def load_model(submission: Path) -> Any:  # noqa: ANN401 - a participant's object
    """Import `model.py` from `submission`, check its `Model` and return an instance.

    Raises LoadFailure with a code, what was found, what was expected and how to fix it.
    """
    module = _import(submission / "model.py", submission)
    model_class = _find_class(module, submission)
    _check_signatures(model_class, submission)
    try:
        return model_class(submission)
    except BaseException as error:  # noqa: BLE001 - SystemExit and the like are the participant's mistake too
        raise LoadFailure(
            "constructor_raised",
            where=location(error, submission),
            found=summarise(error),
            expected="Model(assets) returns a model",
            fix=advise(error) or AT_HOME,
        ) from None


def runs_alone(model: Any) -> bool:  # noqa: ANN401 - a participant's object
    """Tell whether a model asks to run in only one process at a time, with `runs_alone = True`."""
    try:
        return model.runs_alone is True
    except BaseException:  # noqa: BLE001 - a model's own `__getattr__` may raise anything
        return False


def _find_class(module: Any, submission: Path) -> Any:  # noqa: ANN401 - a participant's module and class
    try:
        model_class = getattr(module, "Model", None)
        if inspect.isclass(model_class):
            return model_class
        failure = _class_missing(module)
    except BaseException as error:  # noqa: BLE001 - a `__getattr__` of the module or a metaclass may raise anything
        failure = LoadFailure(
            "class_missing",
            where=location(error, submission),
            found=f"no class Model: the lookup raised {summarise(error)}",
            expected="a class called Model",
            fix="define `class Model` at the top level of model.py",
        )
    raise failure


def _class_missing(module: Any) -> LoadFailure:  # noqa: ANN401 - a participant's module
    own = [value for value in vars(module).values() if inspect.isclass(value) and value.__module__ == module.__name__]
    classes = [value.__name__ for value in own]
    models = [value.__name__ for value in own if hasattr(value, "predict")]
    close = models if len(models) == 1 else difflib.get_close_matches("Model", classes, n=1, cutoff=0.4)
    fix = "define class Model with __init__, predict and explain"
    if len(models) > 1:
        fix = f"rename one of these to Model: {', '.join(models[:10])}"
    elif close:
        fix = f"rename {close[0]} to Model"
    found = "classes " + ", ".join(classes) if classes else "no class"
    return LoadFailure("class_missing", where="model.py", found=found, expected="a class called Model", fix=fix)


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
        line = _line(error, submission)
        name = line.partition(" line ")[0]
        utf_16 = (submission / name).read_bytes().startswith(UTF_16)
        raise LoadFailure(
            "syntax_error",
            where=line,
            found=f"{error.msg}: {(error.text or '').strip()}",
            expected=f"source that Python {sys.version_info.major}.{sys.version_info.minor} can read, in UTF-8",
            fix=f"save {name} as UTF-8: it is UTF-16" if utf_16 else f"correct {line}; save the file as UTF-8",
        ) from None
    except ModuleNotFoundError as error:
        raise LoadFailure(
            "module_missing",
            where=location(error, submission),
            found=f"import of {error.name!r}, which is not installed",
            expected="your own modules, the standard library, or a package listed on the page Environment",
            fix=in_place_of(error.name or ""),
        ) from None
    except BaseException as error:  # noqa: BLE001 - whatever a participant's module raises
        raise LoadFailure(
            "import_raised",
            where=location(error, submission),
            found=summarise(error),
            expected="a model.py that can be imported",
            fix=advise(error) or AT_HOME,
        ) from None
    return module


def _line(error: SyntaxError, submission: Path) -> str:
    """Return the file and line of a syntax error; for bytes that are not UTF-8, Python gives no line."""
    path = Path(error.filename or submission / "model.py")
    name = path.relative_to(submission).as_posix() if path.is_relative_to(submission) else "model.py"
    number = error.lineno
    if not number:
        content = (submission / name).read_bytes()
        number = content.count(b"\n", 0, _first_bad_byte(content)) + 1
    return f"{name} line {number}"


def _first_bad_byte(content: bytes) -> int:
    try:
        content.decode()
    except UnicodeDecodeError as error:
        return error.start
    return max(0, content.find(b"\0"))


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
            continue  # a built-in without a signature; the call itself will show whether it fits
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
