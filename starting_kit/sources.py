"""What the sources of a submission say about themselves, without running any of them."""

import ast
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

# Modules of the packages in requirements.txt, and of what they bring along.
INSTALLED = frozenset({
    "av", "cloudpickle", "cv2", "dateutil", "jinja2", "joblib", "markupsafe", "narwhals", "numpy", "pandas", "scipy",
    "sklearn", "threadpoolctl", "tzdata", "yaml",
})  # fmt: skip
NETWORK = frozenset({"ftplib", "http", "smtplib", "socket", "urllib"})
PROCESSES = frozenset({"multiprocessing", "subprocess"})
KIT = {
    "contract": "import it under `if TYPE_CHECKING:`, as its first lines show, or copy contract.py into the folder",
    "file_clip": "leave it to training: on the platform the clip comes with each call",
    "training": "leave it to training: the platform only runs the model",
}
"""Modules of this kit that the platform lacks."""
METHODS = {"__init__": ("self", "assets"), "predict": ("self", "clip"), "explain": ("self", "clip", "prediction")}
HOME = re.compile(r"(?:/home/|/Users/|/content/|/kaggle/|[A-Z]:\\)[\w.-]+")
NEVER_RUN = ("TYPE_CHECKING", "typing.TYPE_CHECKING", "__name__ == '__main__'")
"""Conditions that do not hold on the platform."""
BINDS_UNSEEN = frozenset({"__import__", "exec", "globals", "setattr", "vars"})
"""Calls that can give a module names which its source does not show."""


@dataclass(frozen=True)
class Finding:
    """One thing to know about a submission."""

    level: str
    """`error`: it would be refused; `warning`: it will not do what you mean; `note`: it is ignored."""
    code: str
    """Short name."""
    where: str
    """File, and line if there is one."""
    found: str
    """What was found."""
    fix: str
    """What to do."""

    def line(self) -> str:
        """Put it into a line."""
        return f"{self.level}: {self.where}: {self.found}. Fix: {self.fix}. [{self.code}]"


def check_sources(names: Collection[str], contents: Mapping[str, bytes]) -> Iterator[Finding]:
    """Find what the sources say about themselves: they are parsed, never run.

    Parameters
    ----------
    names
        All files of the submission, as paths below its folder.
    contents
        Of the Python files among them.
    """
    own = {PurePosixPath(name).parts[0].removesuffix(".py") for name in names}
    sources: dict[str, ast.Module] = {}
    for name, content in contents.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about escapes in strings: the author's own business
                sources[name] = ast.parse(content, feature_version=(3, 11))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:  # of brackets or signs without end
            line = getattr(error, "lineno", None)
            found = f"no Python 3.11 ({getattr(error, 'msg', None) or str(error) or 'nested too deeply'})"
            yield Finding("error", "syntax_error", f"{name}, line {line}" if line else name, found, "correct that line")
    reached = _reached(sources)
    # Whatever a submission does to the path of modules, what it has nowhere it cannot import.
    held = {part.removesuffix(".py") for name in names for part in PurePosixPath(name).parts}
    for name, tree in sources.items():
        yield from _imports(name, tree, own, (_always(tree) if name in reached else frozenset()) - held)
        yield from _paths(name, tree)
        yield from _bare_names(name, tree, frozenset(names))
        if name == "model.py":
            yield from _model(tree)


def _run(tree: ast.AST, *, inside: bool = True) -> Iterator[ast.AST]:
    """Give the nodes of a tree that the platform may run, in the order of `ast.walk`.

    Parameters
    ----------
    inside
        Whether those inside functions and classes are meant, too.
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
    for node in _run(tree):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules = [node.module]
        for module in modules:
            top, where = module.partition(".")[0], f"{name}, line {getattr(node, 'lineno', 0)}"
            if top in said or (top in KIT and top not in always):
                continue
            said.add(top)
            if top not in sys.stdlib_module_names and top not in INSTALLED:
                level = "error" if top in always else "warning"
                found = f"an import of {top}, which the platform lacks"
                yield Finding(level, "module_missing", where, found, KIT.get(top) or in_place_of(top))
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
    bindings = [binding for node in _run(tree, inside=False) for binding in _bindings(node)]
    if "Model" not in bindings:
        yield _without_model(tree, unseen="*" in bindings or any(map(_binds_unseen, ast.walk(tree))))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Model"]
    if len(classes) > 1:
        yield Finding("warning", "class_double", "model.py", "several classes Model", "keep one: the last one counts")
    for model in classes[-1:]:
        methods = {node.name: node for node in model.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
        for method, wanted in METHODS.items():
            if method not in methods:
                if not model.bases and method != "__init__":
                    yield Finding("error", "method_missing", "model.py", f"no method {method}", f"add {_call(method)}")
            elif isinstance(methods[method], ast.AsyncFunctionDef) or not _takes(methods[method].args, len(wanted)):
                where = f"model.py, line {methods[method].lineno}"
                found = f"{method} with other arguments"
                yield Finding("error", "signature_wrong", where, found, f"write {_call(method)}")


def _bindings(node: ast.AST) -> Iterator[str]:
    """Give the names that a node at the top of a module binds; `*` stands for those of another module."""
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


def _without_model(tree: ast.Module, *, unseen: bool) -> Finding:
    """Say that no class is called Model, and which one may be meant."""
    if unseen:
        fix = "write `class Model` out, or see with --run 3 whether it is there"
        return Finding("warning", "class_missing", "model.py", "no class Model that can be seen without a run", fix)
    classes = [node for node in _run(tree, inside=False) if isinstance(node, ast.ClassDef)]
    models = [
        node.name
        for node in classes
        if any(isinstance(one, ast.FunctionDef) and one.name == "predict" for one in node.body)
    ]
    found = f"no class Model, but {', '.join(node.name for node in classes[:5])}" if classes else "no class Model"
    fix = f"rename {models[0]} to Model" if len(models) == 1 else f"write `class Model` with {', '.join(METHODS)}"
    return Finding("error", "class_missing", "model.py", found, fix)


def _call(method: str) -> str:
    return f"def {method}({', '.join(METHODS[method])})"


def _takes(arguments: ast.arguments, count: int) -> bool:
    places = len(arguments.posonlyargs) + len(arguments.args)
    needed = places - len(arguments.defaults)
    named = [default for default in arguments.kw_defaults if default is None]
    return not named and needed <= count and (count <= places or arguments.vararg is not None)
