"""Rules about what programs import, and about images and wheels that have to provide it."""

import ast
import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import PurePosixPath

from bundle_tools.codabench.rules.commands import PROGRAMS, script_of, started
from bundle_tools.codabench.rules.dataset import DataFiles, find, uses_of
from bundle_tools.codabench.rules.document import ParsedBundle
from bundle_tools.codabench.rules.findings import FAILS_LATER, IGNORED, Finding, shown

OFFICIAL_TAG = re.compile(r"(?P<major>3)\.(?P<minor>\d{1,2})(?![\d])")
LEGACY_TAG = re.compile(r"py(?P<major>3)(?P<minor>\d{1,2})")
COMPILED = re.compile(r"(?:cp|py)3(?P<minor>\d{1,2})")


@dataclass(frozen=True)
class Interpreter:
    """The Python of an image."""

    minor: int
    """The second number of its version: 11 for Python 3.11."""
    musl: bool
    """Whether the image is Alpine, which has another C library."""

    def __str__(self) -> str:
        """Return the usual name."""
        return f"Python 3.{self.minor}{' on Alpine' if self.musl else ''}"


def interpreter_of(tag: str) -> Interpreter | None:
    """Return the Python of an official image or of CodaLab's, from its tag; None if the tag does not say."""
    match = OFFICIAL_TAG.match(tag) or LEGACY_TAG.match(tag)
    return Interpreter(int(match["minor"]), "alpine" in tag) if match else None


def unfit(names: Iterable[str], python: Interpreter) -> list[str]:
    """Return the packages that have wheels among these files, but none for this Python on x86-64 Linux.

    The tags of a wheel's name are those of the standard for binary distributions: name-version-python-abi-platform.
    """
    fits: dict[str, bool] = {}
    for name in names:
        parts = PurePosixPath(name).name.removesuffix(".whl").split("-")
        if name.endswith(".whl") and len(parts) >= 5:
            pythons, abis, platforms = (set(part.split(".")) for part in parts[-3:])
            fits[parts[0]] = fits.get(parts[0], False) or _fits(pythons, abis, platforms, python)
    return sorted(package for package, good in fits.items() if not good)


def _fits(pythons: set[str], abis: set[str], platforms: set[str], python: Interpreter) -> bool:
    stable = "abi3" in abis or "none" in abis
    right = "py3" in pythons or any(
        (minor := int(match["minor"])) == python.minor or (stable and minor < python.minor)
        for match in map(COMPILED.fullmatch, pythons)
        if match
    )
    libc = "musllinux" if python.musl else "manylinux"
    return right and any(
        platform == "any" or (platform.startswith((libc, "linux")) and platform.endswith("x86_64"))
        for platform in platforms
    )


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


def check_sources(bundle: ParsedBundle) -> Iterator[Finding]:
    """Find what cannot work, in the programs of all tasks."""
    seen = set()
    for task in bundle.keys.tasks:
        for key in ("ingestion_program", "scoring_program"):
            value = getattr(task, key)
            program = find(bundle, value)
            if program is None or (key, value) in seen:
                continue
            seen.add((key, value))
            sources = read_sources(program)
            for source in sources:
                yield from _check_anywhere(f"{value}:{source.name}", source)
            if key == "ingestion_program":
                yield from _check_syntax(f"{value}", program)
                continue
            where = bundle.at(*task.key_path, key)
            if not task.ingestion_only_during_scoring:
                yield from _check_input(where, str(value), program, sources)
            yield from _check_syntax(f"{value}", program)
            yield from _check_report(bundle, where, program, sources)


def read_sources(program: DataFiles) -> tuple[Source, ...]:
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


def _check_input(where: str, value: str, program: DataFiles, sources: tuple[Source, ...]) -> Iterator[Finding]:
    effect = "Scoring has no input data: the folder does not exist."
    fix = "Put what scoring needs into the reference data."
    if any(word.startswith("/app/input_data") for word in started(program, "scoring")):
        yield Finding("source-input", "error", where, "The scoring command names the input data.", effect, fix)
    for source in sources:
        for line, text in source.texts():
            if text.startswith("/app/input_data"):
                what = f"The scoring program names {shown(text)}."
                yield Finding("source-input", "warning", f"{value}:{source.name}:{line}", what, effect, fix)


def _check_syntax(where: str, program: DataFiles) -> Iterator[Finding]:
    words = started(program, "ingestion")
    script = script_of(words)
    if script is None or not PurePosixPath(words[0]).name.startswith("python3") or script not in program.names():
        return
    if program.size(script) <= LARGEST_SOURCE and _parse(program.read(script)) is None:
        what = f"{script} is not Python 3."
        effect = "The program stops before its first line."
        yield Finding("source-syntax", "warning", f"{where}:{script}", what, effect, "Try it: `bundle run`.")


def _check_report(
    bundle: ParsedBundle, where: str, program: DataFiles, sources: tuple[Source, ...]
) -> Iterator[Finding]:
    shows = bundle.keys.enable_detailed_results
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


DEFAULT = "codalab/codalab-legacy:py37"
LEGACY = re.compile(r"codalab/codalab-legacy(:.*)?")
OFFICIAL = re.compile(r"(docker\.io/)?(library/)?python(:.*)?")
# None of the legacy images has one of these.
NOT_IN_LEGACY = frozenset({"cv2", "torch", "torchvision", "torchaudio", "av", "decord", "transformers"})
# Where a program brings its list of packages, it installs them itself.
OWN_PACKAGES = ("requirements.lock", "requirements.txt")
# The programs of this repository install their lock by this file; the packages were locked for this Python.
INSTALLERS = frozenset({"ingest/packages.py", "score/packages.py"})
LOCKED_FOR = Interpreter(11, musl=False)
# The container engine's grammar of image names: lower case except for host and tag.
HOST = re.compile(r"(?:localhost|[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+|[A-Za-z0-9.-]+(?=:))(?::\d+)?")
PART = re.compile(r"[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*")
TAG = re.compile(r"\w[\w.-]{0,127}", re.ASCII)
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def check_image(bundle: ParsedBundle) -> Iterator[Finding]:
    """Find an image without a fixed version, and imports that the image cannot meet."""
    value = bundle.content.get("docker_image")
    where = bundle.at("docker_image")
    if "docker_image" not in bundle.content:
        what = "docker_image is missing."
        effect = f"Codabench uses {DEFAULT}: an old Python 3.7 without OpenCV."
        yield Finding("image-default", "warning", bundle.at(), what, effect, "Name an image with an exact version.")
        value = DEFAULT
    if not isinstance(value, str) or not value.strip():
        return
    value = value.strip()
    if not is_reference(value):
        what = f"docker_image: {shown(value)} is not a valid image name."
        fix = "Write it in lower case, without spaces or https://: registry.example.org/name:1.0."
        yield Finding("image-name", "error", where, what, FAILS_LATER, fix)
        return
    # A digest (name@sha256:...) counts as a tag here.
    tag = value.rpartition("/")[2].partition(":")[2]
    if tag in ("", "latest"):
        what = f"docker_image: {shown(value)} has no fixed version."
        effect = "Each worker uses the newest it finds, so scores of one submission may differ."
        yield Finding("image-tag", "warning", where, what, effect, "Name an exact version: python:3.11.9-slim.")
    if not LEGACY.fullmatch(value) and not OFFICIAL.fullmatch(value):
        return
    for keys, path in uses_of(bundle, *PROGRAMS):
        if (program := find(bundle, path)) is not None:
            yield from _check_program(bundle.at(*keys), str(keys[-1]), program, value, interpreter_of(tag))


def is_reference(name: str) -> bool:
    """Return whether an image can have this name: [host[:port]/]path[:tag][@digest]."""
    name, _, digest = name.partition("@")
    host, slash, path = name.partition("/")
    if not slash or not HOST.fullmatch(host):
        path = name
    path, colon, tag = path.partition(":")
    return (
        all(PART.fullmatch(part) for part in path.split("/"))
        and (not colon or TAG.fullmatch(tag) is not None)
        and (not digest or DIGEST.fullmatch(digest) is not None)
    )


def _check_program(
    where: str, key: str, program: DataFiles, image: str, python: Interpreter | None
) -> Iterator[Finding]:
    names = program.names()
    wheels = [name for name in names if name.endswith(".whl")]
    if python is not None and (missing := unfit(wheels, python)):
        what = f"{key}: its wheels of {', '.join(missing[:5])} are not for {python}, which {image} holds."
        yield Finding("image-wheels", "error", where, what, FAILS_LATER, "Use an image with their Python.")
    elif python not in (None, LOCKED_FOR) and not wheels and INSTALLERS & set(names):
        what = f"{key}: its packages are locked for {LOCKED_FOR}; {image} holds {python}."
        yield Finding("image-lock", "warning", where, what, FAILS_LATER, f"Use an image with {LOCKED_FOR}.")
    if any(name in names for name in OWN_PACKAGES):
        return
    imported = imports_of(program)
    missing = sorted(imported & NOT_IN_LEGACY if LEGACY.fullmatch(image) else imported)
    if missing:
        what = f"{key}: imports {', '.join(missing[:5])}, which {image} does not contain."
        yield Finding("image-packages", "warning", where, what, FAILS_LATER, "Use an image that contains them.")


def imports_of(program: DataFiles) -> set[str]:
    """Return the packages that a program imports unconditionally: neither Python's own nor the program's."""
    own = {part.removesuffix(".py") for name in program.names() for part in PurePosixPath(name).parts}
    imported: set[str] = set()
    for source in read_sources(program):
        guarded = {
            id(node)
            for block in ast.walk(source.tree)
            if isinstance(block, ast.Try)
            for statement in block.body
            for node in ast.walk(statement)
        }
        for node in ast.walk(source.tree):
            if id(node) in guarded:
                continue
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                imported.add(node.module.partition(".")[0])
    return imported - own - set(sys.stdlib_module_names)
