"""Rules about the container image: its name, and whether it holds what the programs import."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import PurePosixPath

from bundle_tools.codabench.rules.dataset import Dataset, find, uses_of
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.rules.findings import FAILS_LATER, Finding, shown
from bundle_tools.codabench.rules.programs.commands import PROGRAMS
from bundle_tools.codabench.rules.programs.sources import read_sources
from bundle_tools.codabench.rules.programs.wheels import Interpreter, interpreter_of, unfit

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


def check_image(draft: Draft) -> Iterator[Finding]:
    """Find an image without a fixed version, and imports that the image cannot meet."""
    value = draft.content.get("docker_image")
    where = draft.at("docker_image")
    if "docker_image" not in draft.content:
        what = "docker_image is missing."
        effect = f"Codabench uses {DEFAULT}: an old Python 3.7 without OpenCV."
        yield Finding("image-default", "warning", draft.at(), what, effect, "Name an image with an exact version.")
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
    for place, path in uses_of(draft, *PROGRAMS):
        if (program := find(draft, path)) is not None:
            yield from _check_program(draft.at(*place), str(place[-1]), program, value, interpreter_of(tag))


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


def _check_program(where: str, key: str, program: Dataset, image: str, python: Interpreter | None) -> Iterator[Finding]:
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


def imports_of(program: Dataset) -> set[str]:
    """Return the packages that a program imports unconditionally: neither Python's own nor the program's."""
    own = {part.removesuffix(".py") for name in program.names() for part in PurePosixPath(name).parts}
    found: set[str] = set()
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
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                found.add(node.module.partition(".")[0])
    return found - own - set(sys.stdlib_module_names)
