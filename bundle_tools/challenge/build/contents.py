"""The content of the zip: an allow-list of folders, the starting kit, and data sets as ready zips."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import yaml

from bundle_tools.challenge.pages.write import VALUES, pages_of
from bundle_tools.challenge.reading.tables import read_settings
from bundle_tools.codabench.archive import Entry
from bundle_tools.codabench.build import NAME as KEY_NAME
from bundle_tools.codabench.keys import load
from bundle_tools.codabench.rules.archive import JUNK
from bundle_tools.codabench.rules.dataset import Dataset
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.version1 import as_version2, is_version1
from bundle_tools.console import say
from bundle_tools.errors import BundleError

# Everything else (tests, docs, benchmarks, tools) is left out, unless competition.yaml names it.
TOP_LEVEL = (
    *("competition.yaml", "logo.png", "pages", "ingestion_program", "scoring_program", "input_data", "reference_data"),
    *("public_data", "solutions", "starting_kit"),
)
KIT_NAME = "starting_kit"
# What a participant needs to run the practice phase at home and to write a model, besides starting_kit/ itself.
KIT = (
    *("ingestion_program", "scoring_program", "input_data/practice", "reference_data/practice", "solutions"),
    *("docs/error_codes.md", "docs/language.md", "docs/participant.md", "pages"),
)

PUBLIC = "public_data"
METADATA = "croissant.json"
"""Description of the public data that organisers may add; docs/launch.md has a template."""
TRAINING_CLIPS = 240
"""Clips of a drawn training set: the example solution hardly improves with more."""
LONGEST_PATH = 200


def entries(root: Path, text: str, training: Path | None) -> Iterator[Entry]:
    """Yield name and content of every file but `competition.yaml`, whose text is given, before anything is zipped."""
    for name in dict.fromkeys((*TOP_LEVEL[1:], *_named(root, yaml.safe_load(text)))):
        if name == PUBLIC:
            yield from _public(root, training)
        elif (root / name).exists():
            yield from _files(root / name, name)
    for name in KIT:
        if (root / name).exists():
            private = _groups_of(root / name)
            files = _files(root / name, f"{KIT_NAME}/{name}")
            yield from (entry for entry in files if entry[1] != private)


def current_pages(root: Path, text: str, entries: list[Entry]) -> Iterator[Entry]:
    """Yield the entries with current pages, but for those edited by hand. Those of the kit have no last line of ours.

    `text`: `competition.yaml` as packed.
    """
    content = yaml.safe_load(text)
    draft = Draft(root, as_version2(content) if is_version1(content) else content, {}, folder=True)
    pages = {page.path: page for page in pages_of(draft)}
    for name, file in entries:
        in_kit = name.startswith(f"{KIT_NAME}/")
        if name.startswith(f"{KIT_NAME}/pages/") and name.endswith((".md.j2", VALUES)):
            continue  # from which pages are made
        page = pages.get(file) if isinstance(file, Path) else None
        if page is None or page.problem or page.before is None:
            yield name, file
        elif in_kit:
            yield name, (page.before if page.is_edited else page.text).encode("utf-8", "surrogateescape")
        else:
            yield name, file if page.is_edited else page.content.encode("utf-8", "surrogateescape")


def downloads(text: str) -> list[str]:
    """Name the folders that participants download: solutions, starting kit and public data.

    Zipped here, they are exactly the bytes that were checked, the platform recognises a solution that is submitted
    unchanged, and has few files to unpack. Programs and the phases' data stay folders: the platform never reports a
    program that was zipped together with its folder.
    """
    keys = load(text)
    paths = [solution.path for solution in keys.solutions or ()]
    paths += [path for phase in keys.phases for path in (phase.starting_kit, phase.public_data)]
    return list(dict.fromkeys(path for path in paths if path is not None))


def _groups_of(folder: Path) -> Path | None:
    """Return the table of groups. It holds attributes of people, so participants do not get it."""
    name = (read_settings(Dataset(folder)) or {}).get("groups") if folder.is_dir() else None
    return folder / name if isinstance(name, str) else None


def _named(root: Path, node: object) -> Iterator[str]:
    """Yield the top-level files and folders that any value of `competition.yaml` names."""
    # An empty text, as in a fact sheet's free answer, would name the whole folder.
    if isinstance(node, str) and node and not node.startswith(("/", ".")) and len(node) < LONGEST_PATH:
        top = node.split("/")[0]
        if (root / node).exists() and top not in TOP_LEVEL:
            yield top
    elif isinstance(node, (dict, list)):
        for value in node.values() if isinstance(node, dict) else node:
            yield from _named(root, value)


def _public(root: Path, training: Path | None) -> Iterator[Entry]:
    """Yield the labelled clips that participants download, and their metadata if there are any."""
    folder = training or root / PUBLIC
    if training is not None:
        if not (folder / "labels.csv").is_file() or not (folder / "clips").is_dir():
            make = f"bundle data synth --clips {TRAINING_CLIPS} --seed 2017 --out {folder}"
            raise BundleError(f"--training {folder}: expected labels.csv and clips/, found none. Make them: `{make}`.")
        say(f"public_data: the training set in {folder}")
        if (root / PUBLIC / METADATA).is_file():
            yield f"{PUBLIC}/{METADATA}", root / PUBLIC / METADATA
    if folder.exists():
        yield from _files(folder, PUBLIC)


def _files(path: Path, name: str) -> Iterator[Entry]:
    if path.is_file():
        yield name, path
        return
    for file in sorted(path.rglob("*")):
        inside = file.relative_to(path)
        # The key of an earlier build is useless, and would be public in the starting kit.
        hidden = any(part.startswith(".") or part in JUNK for part in inside.parts) or file.suffix == ".pyc"
        hidden = hidden or file.name == KEY_NAME
        if file.is_symlink():
            say(f"Left out: {PurePosixPath(name) / inside.as_posix()} is a link. Replace each link with its file.")
        elif file.is_file() and not hidden:
            yield str(PurePosixPath(name) / inside.as_posix()), file
