"""What the sources of a submission say about themselves, without running any of them."""

import ast
import re
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from finding import Finding

LARGEST_SOURCE = 2 * 2**20

# Modules of the packages in requirements.txt, and of what they bring along.
INSTALLED = frozenset({
    "av", "cloudpickle", "cv2", "dateutil", "jinja2", "joblib", "markupsafe", "narwhals", "numpy", "pandas", "scipy",
    "sklearn", "threadpoolctl", "tzdata", "yaml",
})  # fmt: skip
ONNX = "export the network to ONNX, and run it with cv2.dnn.readNetFromONNX"
INSTEAD = dict.fromkeys(("jax", "keras", "onnxruntime", "tensorflow", "torch", "torchvision", "transformers"), ONNX)
NETWORK = frozenset({"ftplib", "http", "smtplib", "socket", "urllib"})
PROCESSES = frozenset({"multiprocessing", "subprocess"})
METHODS = {"__init__": ("self", "assets"), "predict": ("self", "clip"), "explain": ("self", "clip", "prediction")}
HOME = re.compile(r"(?:/home/|/Users/|/content/|/kaggle/|[A-Z]:\\)[\w.-]+")


def read_sources(folder: Path, names: Sequence[str]) -> Iterator[Finding]:
    """Find what the sources say about themselves: they are parsed, never run.

    Parameters
    ----------
    folder
        The submission.
    names
        Its files, as paths below the folder.
    """
    own = {PurePosixPath(name).parts[0].removesuffix(".py") for name in names}
    sources: dict[str, ast.Module] = {}
    for name in names:
        path = folder / name
        if not name.endswith(".py") or path.stat().st_size > LARGEST_SOURCE:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about escapes in strings: the author's own business
                tree = ast.parse(path.read_bytes(), feature_version=(3, 11))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:  # of brackets or signs without end
            line = getattr(error, "lineno", None)
            found = f"no Python 3.11 ({getattr(error, 'msg', None) or str(error) or 'nested too deeply'})"
            yield Finding("error", "syntax_error", f"{name}, line {line}" if line else name, found, "correct that line")
            continue
        sources[name] = tree
    reached = _reached(sources)
    # Whatever a submission does to the path of modules, what it has nowhere it cannot import.
    held = {part.removesuffix(".py") for name in names for part in PurePosixPath(name).parts}
    for name, tree in sources.items():
        yield from _imports(name, tree, own, (_always(tree) if name in reached else frozenset()) - held)
        yield from _paths(name, tree)
        yield from _bare_names(name, tree, frozenset(names))
        if name == "model.py":
            yield from _model(tree)


def _always(tree: ast.Module) -> frozenset[str]:
    """Name the packages and modules that a source imports whatever happens: outside functions, `if` and `try`."""
    tops = {alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names}
    tops |= {node.module for node in tree.body if isinstance(node, ast.ImportFrom) and node.module and not node.level}
    return frozenset(name.partition(".")[0] for name in tops)


def _reached(sources: Mapping[str, ast.Module]) -> set[str]:
    """Name the sources at the top of the folder that are run as soon as `model.py` is imported, itself among them."""
    reached, ahead = set[str](), ["model.py"]
    while ahead:
        name = ahead.pop()
        if name in sources and name not in reached:
            reached.add(name)
            ahead += [source for top in _always(sources[name]) for source in (f"{top}.py", f"{top}/__init__.py")]
    return reached


def _imports(name: str, tree: ast.Module, own: set[str], always: frozenset[str]) -> Iterator[Finding]:
    said = set(own)
    for node in ast.walk(tree):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules = [node.module]
        for module in modules:
            top, where = module.partition(".")[0], f"{name}, line {getattr(node, 'lineno', 0)}"
            if top in said:
                continue
            said.add(top)
            if top not in sys.stdlib_module_names and top not in INSTALLED:
                level = "error" if top in always else "warning"
                found = f"an import of {top}, which the platform lacks"
                fix = INSTEAD.get(top, "put the module into the folder if it is pure Python, or do without")
                yield Finding(level, "module_missing", where, found, fix)
            elif top in NETWORK:
                fix = "put what is needed into the folder: there is no network"
                yield Finding("warning", "network", where, f"an import of {top}", fix)
            elif top in PROCESSES:
                fix = "use threads: processes cannot be started"
                yield Finding("warning", "processes", where, f"an import of {top}", fix)


def _paths(name: str, tree: ast.Module) -> Iterator[Finding]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and (match := HOME.search(node.value)):
            fix = 'open files below the folder that the constructor receives, such as assets / "weights.npz"'
            yield Finding("warning", "own_path", f"{name}, line {node.lineno}", f"the path {match.group()!r}", fix)


def _bare_names(name: str, tree: ast.Module, files: frozenset[str]) -> Iterator[Finding]:
    """Find own files that are opened by their name alone: the platform starts the model in another folder."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    modules = {alias.asname or alias.name for node in imports for alias in node.names}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args or not isinstance(node.args[0], ast.Constant):
            continue
        called, given = node.func, node.args[0].value
        opens = isinstance(called, ast.Name) and called.id in ("open", "Path")
        opens = opens or (
            isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id in modules
        )
        if opens and isinstance(given, str) and given.removeprefix("./") in files:
            fix = f'open it below the folder that the constructor receives: assets / "{given.removeprefix("./")}"'
            yield Finding(
                "warning", "bare_name", f"{name}, line {node.lineno}", f"{given!r} opened by its name alone", fix
            )


def _model(tree: ast.Module) -> Iterator[Finding]:
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Model"]
    imported = any(
        isinstance(node, ast.ImportFrom) and any((alias.asname or alias.name) in ("Model", "*") for alias in node.names)
        for node in tree.body
    )
    if not classes:
        if not imported and not any(isinstance(node, ast.Assign | ast.If | ast.Try) for node in tree.body):
            yield Finding("error", "class_missing", "model.py", "no class Model", "name your class Model")
        return
    (model, *others) = classes
    if others:
        yield Finding("warning", "class_double", "model.py", "several classes Model", "keep one: the last one counts")
    methods = {node.name: node for node in model.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    for method, wanted in METHODS.items():
        if method not in methods:
            if not model.bases and method != "__init__":
                yield Finding("error", "method_missing", "model.py", f"no method {method}", f"add it: {_call(method)}")
        elif isinstance(methods[method], ast.AsyncFunctionDef) or not _takes(methods[method].args, len(wanted)):
            where = f"model.py, line {methods[method].lineno}"
            found = f"{method} with other arguments"
            yield Finding("error", "signature_wrong", where, found, f"write {_call(method)}")


def _call(method: str) -> str:
    return f"def {method}({', '.join(METHODS[method])})"


def _takes(arguments: ast.arguments, count: int) -> bool:
    places = len(arguments.posonlyargs) + len(arguments.args)
    needed = places - len(arguments.defaults)
    named = [default for default in arguments.kw_defaults if default is None]
    return not named and needed <= count and (count <= places or arguments.vararg is not None)
