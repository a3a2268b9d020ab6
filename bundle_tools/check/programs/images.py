"""Rules about the container image: its name, and whether it holds what the programs import."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import PurePosixPath

from bundle_tools.check.dataset import Dataset, find
from bundle_tools.check.document import Draft
from bundle_tools.check.findings import FAILS_LATER, Finding, shown
from bundle_tools.check.programs.commands import PROGRAMS
from bundle_tools.check.programs.sources import read_sources

DEFAULT = "codalab/codalab-legacy:py37"
LEGACY = re.compile(r"codalab/codalab-legacy(:.*)?")
OFFICIAL = re.compile(r"(docker\.io/)?(library/)?python(:.*)?")
# None of the legacy images has one of these.
NOT_IN_LEGACY = frozenset({"cv2", "torch", "torchvision", "torchaudio", "av", "decord", "transformers"})
# Where a program brings its list of packages, it installs them itself.
OWN_PACKAGES = ("requirements.lock", "requirements.txt")


def check_image(draft: Draft) -> Iterator[Finding]:
    """Find an image without a fixed version, and imports that the image cannot meet."""
    value = draft.content.get("docker_image")
    where = draft.at("docker_image")
    if "docker_image" not in draft.content:
        what = "docker_image is missing."
        effect = f"Codabench takes {DEFAULT}: an old Python 3.7 without OpenCV."
        yield Finding("image-default", "warning", draft.at(), what, effect, "Name an image with an exact version.")
        value = DEFAULT
    if not isinstance(value, str) or not value.strip():
        return
    # A digest (name@sha256:...) counts as a tag here.
    tag = value.rpartition("/")[2].partition(":")[2]
    if tag in ("", "latest"):
        what = f"docker_image: {shown(value)} names no fixed version."
        effect = "Each worker takes the newest it finds: scores of one submission may differ."
        yield Finding("image-tag", "warning", where, what, effect, "Name an exact version: python:3.11.9-slim.")
    if not LEGACY.fullmatch(value) and not OFFICIAL.fullmatch(value):
        return
    for position, task in draft.entries("tasks"):
        for key in PROGRAMS:
            program = find(draft, task.get(key))
            if program is None or any(name in program.names() for name in OWN_PACKAGES):
                continue
            imported = imports_of(program)
            missing = sorted(imported & NOT_IN_LEGACY if LEGACY.fullmatch(value) else imported)
            if missing:
                what = f"{key}: imports {', '.join(missing[:5])}, which {value} does not hold."
                fix = "Name an image that holds them."
                yield Finding("image-packages", "warning", draft.at("tasks", position, key), what, FAILS_LATER, fix)


def imports_of(program: Dataset) -> set[str]:
    """Give the packages that a program imports without a way out: neither Python's own nor the program's."""
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
