"""Check the source files of a submission without running them."""

import ast
import codecs
import re
import sys
import warnings
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

import programs  # noqa: F401 - makes the platform's own words importable
from model_process.failures import in_place_of

LARGEST_SOURCE = 2 * 2**20

# Modules of the packages in requirements.txt and of their dependencies.
INSTALLED = frozenset({
    "annotated_types", "av", "cloudpickle", "cv2", "dateutil", "flatbuffers", "google", "jinja2", "joblib",
    "markupsafe", "narwhals", "numpy", "onnxruntime", "packaging", "pandas", "pydantic", "pydantic_core", "scipy",
    "sklearn", "threadpoolctl", "typing_extensions", "typing_inspection", "tzdata", "yaml",
})  # fmt: skip
NETWORK = frozenset({"ftplib", "http", "smtplib", "socket", "urllib"})
PROCESSES = frozenset({"multiprocessing", "subprocess"})
KIT = {
    "contract": "import it under `if TYPE_CHECKING:`, as its docstring shows, or copy contract.py into the folder",
    "file_clip": "use it only for training: on the platform every call receives the clip",
    "training": "use it only for training: the platform only runs the model",
}
"""Modules of this kit that the platform lacks."""
METHODS = {"__init__": ("self", "assets"), "predict": ("self", "clip"), "explain": ("self", "clip", "prediction")}
HOME = re.compile(r"(?:/home/|/Users/|/content/|/kaggle/|[A-Z]:\\)[\w.-]+")
NEVER_RUN = ("TYPE_CHECKING", "typing.TYPE_CHECKING", "__name__ == '__main__'")
"""Conditions that are false on the platform."""
BINDS_UNSEEN = frozenset({"__import__", "exec", "globals", "setattr", "vars"})
"""Calls that can define names without showing them in the source."""


@dataclass(frozen=True)
class Remark:
    """One thing to know about a submission."""

    level: str
    """`error`: refused by the platform; `warning`: probably not what you mean; `note`: ignored."""
    code: str
    """Short name."""
    where: str
    """File, and line if known."""
    found: str
    """What was found."""
    fix: str
    """What to do."""

    def line(self) -> str:
        """Return the finding as one line."""
        return f"{self.level}: {self.where}: {self.found}. Fix: {self.fix}. [{self.code}]"


def check_sources(names: Collection[str], contents: Mapping[str, bytes]) -> Iterator[Remark]:
    """Yield the findings of the source files, which are parsed but never run.

    `names`: all files of the submission, as paths below its folder.
    """
    own = {PurePosixPath(name).parts[0].removesuffix(".py") for name in names}
    sources: dict[str, ast.Module] = {}
    for name, content in contents.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about escapes in strings: not our concern
                sources[name] = ast.parse(content, feature_version=(3, 11))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:  # e.g. too many nested brackets
            line = getattr(error, "lineno", None)
            found = f"not valid Python 3.11 ({getattr(error, 'msg', None) or str(error) or 'nested too deeply'})"
            utf_16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
            fix = "save the file as UTF-8: it is UTF-16" if utf_16 else "correct that line"
            yield Remark("error", "syntax_error", f"{name}, line {line}" if line else name, found, fix)
    reached = _reached(sources)
    # A submission may change the module path, but it cannot import what it does not contain.
    packed = {part.removesuffix(".py") for name in names for part in PurePosixPath(name).parts}
    for name, tree in sources.items():
        yield from _imports(name, tree, own, (_always(tree) if name in reached else frozenset()) - packed)
        yield from _paths(name, tree)
        yield from _bare_names(name, tree, frozenset(names))
        if name == "model.py":
            yield from _model(tree)


def _run(tree: ast.AST, *, inside: bool = True) -> Iterator[ast.AST]:
    """Yield the nodes that the platform may run, in the order of `ast.walk`.

    `inside`: whether to include nodes inside functions and classes.
    """
    ahead = deque([tree])
    while ahead:
        node = ahead.popleft()
        yield node
        if isinstance(node, ast.If) and ast.unparse(node.test) in NEVER_RUN:
            ahead += node.orelse
        elif inside or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            ahead += ast.iter_child_nodes(node)


def _always(tree: ast.Module) -> frozenset[str]:
    """Return the top-level packages that a source always imports: outside functions, `if` and `try`."""
    tops = {alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names}
    tops |= {node.module for node in tree.body if isinstance(node, ast.ImportFrom) and node.module and not node.level}
    return frozenset(name.partition(".")[0] for name in tops)


def _reached(sources: Mapping[str, ast.Module]) -> set[str]:
    """Return the top-level sources that run when `model.py` is imported, including itself."""
    reached, ahead = set[str](), ["model.py"]
    while ahead:
        name = ahead.pop()
        if name in sources and name not in reached:
            reached.add(name)
            ahead += [source for top in _always(sources[name]) for source in (f"{top}.py", f"{top}/__init__.py")]
    return reached


def _imports(name: str, tree: ast.Module, own: set[str], always: frozenset[str]) -> Iterator[Remark]:
    named = set(own)
    for node in _run(tree):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules = [node.module]
        for module in modules:
            top, where = module.partition(".")[0], f"{name}, line {getattr(node, 'lineno', 0)}"
            if top in named or (top in KIT and top not in always):
                continue
            named.add(top)
            if top not in sys.stdlib_module_names and top not in INSTALLED:
                level = "error" if top in always else "warning"
                found = f"an import of {top}, which the platform lacks"
                yield Remark(level, "module_missing", where, found, KIT.get(top) or in_place_of(top))
            elif top in NETWORK:
                fix = "put the data into the folder: there is no network"
                yield Remark("warning", "network", where, f"an import of {top}", fix)
            elif top in PROCESSES:
                fix = "use threads: the platform allows no new processes"
                yield Remark("warning", "processes", where, f"an import of {top}", fix)


def _paths(name: str, tree: ast.Module) -> Iterator[Remark]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and (match := HOME.search(node.value)):
            fix = 'open files below the folder passed to the constructor, such as assets / "weights.npz"'
            yield Remark("warning", "own_path", f"{name}, line {node.lineno}", f"the path {match.group()!r}", fix)


def _bare_names(name: str, tree: ast.Module, files: frozenset[str]) -> Iterator[Remark]:
    """Find submitted files opened by a bare name: the platform starts the model in another folder."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    modules = {alias.asname or alias.name for node in imports for alias in node.names}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args or not isinstance(node.args[0], ast.Constant):
            continue
        called, argument = node.func, node.args[0].value
        opens = isinstance(called, ast.Name) and called.id in ("open", "Path")
        opens = opens or (
            isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id in modules
        )
        if opens and isinstance(argument, str) and argument.removeprefix("./") in files:
            fix = f'open it below the folder passed to the constructor: assets / "{argument.removeprefix("./")}"'
            yield Remark(
                "warning", "bare_name", f"{name}, line {node.lineno}", f"{argument!r} opened by its bare name", fix
            )


def _model(tree: ast.Module) -> Iterator[Remark]:
    bindings = [binding for node in _run(tree, inside=False) for binding in _bindings(node)]
    if "Model" not in bindings:
        yield _without_model(tree, unseen="*" in bindings or any(map(_binds_unseen, ast.walk(tree))))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Model"]
    if len(classes) > 1:
        yield Remark(
            "warning", "class_double", "model.py", "several classes named Model", "keep one: only the last one counts"
        )
    for model in classes[-1:]:
        methods = {node.name: node for node in model.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
        for method, wanted in METHODS.items():
            if method not in methods:
                if not model.bases and method != "__init__":
                    yield Remark("error", "method_missing", "model.py", f"no method {method}", f"add {_call(method)}")
            elif isinstance(methods[method], ast.AsyncFunctionDef) or not _takes(methods[method].args, len(wanted)):
                where = f"model.py, line {methods[method].lineno}"
                found = f"{method} with the wrong arguments"
                yield Remark("error", "signature_wrong", where, found, f"write {_call(method)}")


def _bindings(node: ast.AST) -> Iterator[str]:
    """Yield the names that a top-level node binds; `*` stands for all names of another module."""
    if isinstance(node, ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name for alias in node.names)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id


def _binds_unseen(node: ast.AST) -> bool:
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in BINDS_UNSEEN
    of_modules = isinstance(node, ast.Attribute) and ast.unparse(node) == "sys.modules"
    lazily = isinstance(node, ast.FunctionDef) and node.name == "__getattr__"
    return called or of_modules or lazily or (isinstance(node, ast.Global) and "Model" in node.names)


def _without_model(tree: ast.Module, *, unseen: bool) -> Remark:
    """Report the missing class Model, with the class that may be meant."""
    if unseen:
        fix = "define `class Model` explicitly, or check with --run 3 that it exists"
        return Remark("warning", "class_missing", "model.py", "no class Model visible without running the code", fix)
    classes = [node for node in _run(tree, inside=False) if isinstance(node, ast.ClassDef)]
    models = [
        node.name
        for node in classes
        if any(isinstance(part, ast.FunctionDef) and part.name == "predict" for part in node.body)
    ]
    found = f"no class Model, but {', '.join(node.name for node in classes[:5])}" if classes else "no class Model"
    fix = f"rename {models[0]} to Model" if len(models) == 1 else f"write `class Model` with {', '.join(METHODS)}"
    return Remark("error", "class_missing", "model.py", found, fix)


def _call(method: str) -> str:
    return f"def {method}({', '.join(METHODS[method])})"


def _takes(arguments: ast.arguments, count: int) -> bool:
    places = len(arguments.posonlyargs) + len(arguments.args)
    needed = places - len(arguments.defaults)
    named = [default for default in arguments.kw_defaults if default is None]
    return not named and needed <= count and (count <= places or arguments.vararg is not None)
