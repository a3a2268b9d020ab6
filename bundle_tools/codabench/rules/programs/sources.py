"""Rules about the Python text of programs: calls that cannot work on the platform. The text is read, never run."""

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import PurePosixPath

from bundle_tools.codabench.rules.dataset import Dataset, find
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.rules.findings import IGNORED, Finding, shown
from bundle_tools.codabench.rules.programs.commands import script_of, started

LARGEST_SOURCE = 1_000_000
REPORT = "detailed_results.html"
OUTPUT = re.compile(r"out", re.IGNORECASE)
# Texts of a program that may name a report: scripts of any language and their templates.
TEXTS = (".py", ".sh", ".r", ".jl", ".js", ".j2", ".jinja", ".jinja2", ".tmpl", ".yaml", ".yml", ".json", ".ipynb")


@dataclass(frozen=True)
class Source:
    """One Python file of a program."""

    name: str
    """Path relative to the program's root."""
    tree: ast.Module

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes; several rules walk over them."""
        return tuple(ast.walk(self.tree))

    def calls(self) -> Iterator[ast.Call]:
        """Return every call in it."""
        return (node for node in self.nodes if isinstance(node, ast.Call))

    def texts(self) -> Iterator[tuple[int, str]]:
        """Yield every string in it with its line, except docstrings and other unused strings."""
        alone = {id(node.value) for node in self.nodes if isinstance(node, ast.Expr)}
        for node in self.nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
                yield node.lineno, node.value


def check_sources(draft: Draft) -> Iterator[Finding]:
    """Find what cannot work, in the programs of all tasks."""
    seen = set()
    for task in draft.keys.tasks:
        for key in ("ingestion_program", "scoring_program"):
            value = getattr(task, key)
            program = find(draft, value)
            if program is None or (key, value) in seen:
                continue
            seen.add((key, value))
            sources = read_sources(program)
            for source in sources:
                yield from _check_anywhere(f"{value}:{source.name}", source)
            if key == "ingestion_program":
                yield from _check_syntax(f"{value}", program)
                continue
            where = draft.at(*task.place, key)
            if not task.ingestion_only_during_scoring:
                yield from _check_input(where, str(value), program, sources)
            yield from _check_syntax(f"{value}", program)
            yield from _check_report(draft, where, program, sources)


def read_sources(program: Dataset) -> tuple[Source, ...]:
    """Parse every valid Python file of a program."""
    names = [name for name in program.names() if name.endswith(".py") and program.size(name) <= LARGEST_SOURCE]
    return _sources(tuple((name, program.read(name)) for name in names))


# Several rules read the same two programs.
@lru_cache(maxsize=2)
def _sources(files: tuple[tuple[str, bytes], ...]) -> tuple[Source, ...]:
    trees = ((name, _parse(content)) for name, content in files)
    return tuple(Source(name, tree) for name, tree in trees if tree is not None)


def _parse(content: bytes) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _check_anywhere(where: str, source: Source) -> Iterator[Finding]:
    for call in source.calls():
        if _writes_metadata(call):
            what = "The program writes a file named metadata into its output."
            effect = "The worker writes that file itself and ends the run as failed."
            fix = "Use another name."
            yield Finding("source-metadata", "error", f"{where}:{call.lineno}", what, effect, fix)
        for keyword in call.keywords:
            count = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
            if keyword.arg == "num_workers" and isinstance(count, int) and count > 0:
                what = f"num_workers is {count}."
                effect = "Containers have 64 MB of shared memory: PyTorch's workers die."
                fix = "Write num_workers=0, or share through the file system."
                yield Finding("source-workers", "note", f"{where}:{call.lineno}", what, effect, fix)
    for line, text in source.texts():
        if text.startswith("/dev/shm/"):  # noqa: S108 - a name to look for
            what = f"The program uses {shown(text)}."
            effect = "Containers have 64 MB there."
            yield Finding("source-shm", "note", f"{where}:{line}", what, effect, "Use a temporary folder.")


def _writes_metadata(call: ast.Call) -> bool:
    function = call.func
    if isinstance(function, ast.Attribute) and function.attr in ("write_text", "write_bytes"):
        return _is_metadata(function.value)
    arguments = list(call.args)
    target: ast.expr | None = None
    if isinstance(function, ast.Attribute) and function.attr == "open":
        target = function.value
    elif isinstance(function, ast.Name) and function.id == "open" and arguments:
        target = arguments.pop(0)
    modes = [*arguments[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
    writing = any(isinstance(m, ast.Constant) and isinstance(m.value, str) and set(m.value) & set("wax") for m in modes)
    return writing and target is not None and _is_metadata(target)


def _is_metadata(path: ast.expr) -> bool:
    """Return whether a path is `metadata` right inside something named like an output folder."""
    if isinstance(path, ast.Constant):
        return path.value == "/app/output/metadata"
    parts: list[ast.expr] = []
    if isinstance(path, ast.BinOp) and isinstance(path.op, ast.Div):
        parts = [path.left, path.right]
    elif isinstance(path, ast.Call):
        named = path.func.attr if isinstance(path.func, ast.Attribute) else getattr(path.func, "id", "")
        parts = path.args if named in ("join", "Path", "joinpath") else []
    if len(parts) != 2 or not isinstance(parts[1], ast.Constant) or parts[1].value != "metadata":
        return False
    folder = parts[0]
    if isinstance(folder, ast.Constant):
        return str(folder.value).rstrip("/") == "/app/output"
    if isinstance(folder, (ast.Name, ast.Attribute)):
        return bool(OUTPUT.match(folder.id if isinstance(folder, ast.Name) else folder.attr))
    return False


def _check_input(where: str, value: str, program: Dataset, sources: tuple[Source, ...]) -> Iterator[Finding]:
    effect = "Scoring has no input data: the folder does not exist."
    fix = "Put what scoring needs into the reference data."
    if any(word.startswith("/app/input_data") for word in started(program, "scoring")):
        yield Finding("source-input", "error", where, "The scoring command names the input data.", effect, fix)
    for source in sources:
        for line, text in source.texts():
            if text.startswith("/app/input_data"):
                what = f"The scoring program names {shown(text)}."
                yield Finding("source-input", "warning", f"{value}:{source.name}:{line}", what, effect, fix)


def _check_syntax(where: str, program: Dataset) -> Iterator[Finding]:
    words = started(program, "ingestion")
    script = script_of(words)
    if script is None or not PurePosixPath(words[0]).name.startswith("python3") or script not in program.names():
        return
    if program.size(script) <= LARGEST_SOURCE and _parse(program.read(script)) is None:
        what = f"{script} is not Python 3."
        effect = "The program stops before its first line."
        yield Finding("source-syntax", "warning", f"{where}:{script}", what, effect, "Try it: `bundle run`.")


def _check_report(draft: Draft, where: str, program: Dataset, sources: tuple[Source, ...]) -> Iterator[Finding]:
    shows = draft.keys.enable_detailed_results
    writes = any(text.endswith(REPORT) for source in sources for _, text in source.texts())
    if writes and not shows:
        what = f"The scoring program writes {REPORT}, and enable_detailed_results is off."
        yield Finding("report-off", "warning", where, what, IGNORED, "Write enable_detailed_results: true.")
    names = program.names()
    if not shows or writes or any(".htm" in name for name in names):
        return
    texts = [name for name in names if name.lower().endswith(TEXTS) and program.size(name) <= LARGEST_SOURCE]
    # A compiled program may write anything, so a report can only be missing from a program that is all text.
    if texts and not any("html" in program.text(name).lower() for name in texts):
        what = "enable_detailed_results is on, and the scoring program never names an HTML file."
        effect = "Every scoring waits 5 s for a report that does not come."
        yield Finding("report-none", "note", where, what, effect, f"Write {REPORT}, or switch it off.")
