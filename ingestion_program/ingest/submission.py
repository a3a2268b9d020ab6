"""What was submitted: its files, whom it credits, and what it says of its training."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import yaml
from pydantic import Field, StrictFloat, StrictInt
from pydantic.dataclasses import dataclass as schema

from ingest.data import hash_file, placeholder
from ingest.errors import Problem
from ingest.results import EXPLANATIONS, PREDICTIONS, find_results
from ingest.schema import CONFIG, Mistake, Rule, Section, WrongSettings, line, validate
from ingest.settings import Limits

if TYPE_CHECKING:
    from pathlib import Path


FILE = "credits.yaml"
FORMAT_VERSION = 1
LARGEST_FILE = 16 * 2**10
MOST_CREDITS = 20
LONGEST_TEXT = 200
_SUBMISSION = re.compile(r"[0-9a-f]{8,64}")
_REPOSITORY = re.compile(r"https://[\w.-]+(?:/[\w.~%+-]+)*/?", re.ASCII)
_EXPECTED = "the format that the page Submission shows"


@dataclass(frozen=True)
class Credit:
    """One thing that a submission builds on; either a submission or a repository."""

    submission: str | None
    """The first 8 to 64 digits of its SHA-256, as its report names it."""
    repository: str | None
    """Address, `https://…`."""
    used: str
    """What was used, in at most 200 characters of one line."""

    def record(self) -> dict[str, Any]:
        """Return the credit for `run.json`."""
        return asdict(self)


class _PlainLoader(yaml.BaseLoader):
    """YAML with texts only and without references, which could expand a few lines to gigabytes."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("a reference (*)")
        return super().compose_node(parent, index)


def read_credits(submission: Path) -> tuple[tuple[Credit, ...], list[Problem]]:
    """Read the credits of a submission.

    Returns the valid credits, none without the file; and a warning for each mistake, since credits never affect the
    score.
    """
    path = submission / FILE
    if path.is_symlink() or not path.is_file():
        return (), []
    if path.stat().st_size > LARGEST_FILE:
        return (), [_credit_warning(FILE, f"{path.stat().st_size} bytes", f"at most {LARGEST_FILE}")]
    try:
        root = yaml.load(path.read_bytes(), _PlainLoader)  # noqa: S506 - texts alone
    except (yaml.YAMLError, ValueError, LookupError, OverflowError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        return (), [_credit_warning(f"{FILE}{line}", "unreadable YAML", _EXPECTED)]
    if not isinstance(root, dict) or root.get("format_version") != str(FORMAT_VERSION):
        return (), [_credit_warning(FILE, "no format_version", f"format_version: {FORMAT_VERSION}")]
    entries = root.get("credits")
    if not isinstance(entries, list):
        return (), [_credit_warning(f"{FILE}, credits", "no list", _EXPECTED)]
    problems: list[Problem] = []
    if len(entries) > MOST_CREDITS:
        problems.append(_credit_warning(f"{FILE}, credits", f"{len(entries)} entries", f"at most {MOST_CREDITS}"))
    read = [
        _credit(entry, f"{FILE}, entry {number}", problems) for number, entry in enumerate(entries[:MOST_CREDITS], 1)
    ]
    return tuple(dict.fromkeys(credit for credit in read if credit is not None)), problems


def _credit(entry: object, where: str, problems: list[Problem]) -> Credit | None:
    if not isinstance(entry, dict) or not entry.keys() <= {"submission", "repository", "used"}:
        problems.append(_credit_warning(where, "unknown keys", "submission or repository, and used"))
        return None
    submission, repository, used = (entry.get(key) for key in ("submission", "repository", "used"))
    before = len(problems)
    if (submission is None) == (repository is None):
        problems.append(_credit_warning(where, "both or neither", "one of submission and repository"))
    if submission is not None and not (isinstance(submission, str) and _SUBMISSION.fullmatch(submission)):
        expected = "the first 8 to 64 digits of a SHA-256, in quotes"
        problems.append(_credit_warning(f"{where}, submission", "a different value", expected))
    if repository is not None and not (
        isinstance(repository, str) and len(repository) <= LONGEST_TEXT and _REPOSITORY.fullmatch(repository)
    ):
        problems.append(
            _credit_warning(f"{where}, repository", "a different value", "an address such as https://host/owner/name")
        )
    if not isinstance(used, str) or not used.strip() or len(used) > LONGEST_TEXT or not used.isprintable():
        problems.append(_credit_warning(f"{where}, used", "no text", f"one line of 1 to {LONGEST_TEXT} characters"))
        return None
    return Credit(submission, repository, used.strip()) if len(problems) == before else None


def _credit_warning(where: str, found: str, expected: str) -> Problem:
    fix = "correct credits.yaml; wrong entries are ignored and cost nothing"
    return Problem("credits_broken", "load", where, found, expected, fix, severity="warning")


TRAINING = "training.json"
_Count = Annotated[StrictInt, Field(ge=2, le=10**6)]


@schema(frozen=True, config=CONFIG)
class Training(Section):
    """What a submission says about its training: the keys of `training.json`, which its training wrote."""

    format_version: Literal[1]
    clips: _Count
    people: _Count
    """Groups that were left out one after the other; none is in the training and among the left-out at once."""
    folds: _Count
    grouped_by: Annotated[str, line(40)]
    """What a group is, such as `source_id`."""
    error: dict[str, Annotated[StrictFloat, Field(ge=0)]]
    """By target: mean absolute error for people who were left out, in the target's unit."""

    def mistakes(self) -> Iterator[Rule]:
        """Return the broken rules across keys."""
        for few, many in (("folds", "people"), ("people", "clips")):
            if getattr(self, few) > getattr(self, many):
                yield few, str(getattr(self, few)), f"at most the {getattr(self, many)} {many}"


def read_training(submission: Path, targets: Collection[str]) -> tuple[Training | None, list[Problem]]:
    """Read what a submission says about its training.

    Returns None without the file or with a mistake in it; and a warning for each mistake, since it costs nothing.
    """
    path = submission / TRAINING
    if path.is_symlink() or not path.is_file():
        return None, []
    mistakes: list[Mistake] = []
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ValueError(f"{path.stat().st_size} bytes")
        training = validate(Training, json.loads(path.read_bytes()), mistakes)
        if training.error.keys() == set(targets):
            return training, []
        mistakes = [Mistake("value", "error", ", ".join(training.error)[:200], f"the targets {', '.join(targets)}")]
    except WrongSettings as error:
        mistakes = error.mistakes
    except (ValueError, RecursionError) as error:
        mistakes = [Mistake("unreadable", "", str(error)[:100], f"JSON of at most {LARGEST_FILE} bytes")]
    fix = "let training.py of the starting kit write it, or leave it out; it is ignored and costs nothing"
    return None, [
        Problem("training_broken", "load", f"{TRAINING} {each.key}".strip(), each.found, each.expected, fix, "warning")
        for each in mistakes
    ]


METADATA = ("metadata", "metadata.yaml")
LISTED = 20
DEEPEST = 50
"""Deepest level of folders that is searched."""
RECORDED = 2_000
LONGEST_NAME = 64
LARGEST_LISTED = 5
PROGRAM = Path(__file__).resolve().parents[1]
# Files that the programs write, and files that older challenges asked for.
RESULTS = frozenset({
    "clips.jsonl", "detailed_results.html", "explanations.jsonl", "log.txt", "manifest.json", "model_output.txt",
    "prediction.pkl", "predictions.csv", "predictions.pkl", "probes.jsonl", "repeats.jsonl", "run.json", "scores.json",
    "scores.txt",
})  # fmt: skip
INSTALLERS = frozenset({
    "dockerfile", "environment.yaml", "environment.yml", "pipfile", "poetry.lock", "pyproject.toml", "requirements.txt",
    "setup.cfg", "setup.py", "uv.lock",
})  # fmt: skip
# The platform unpacks a link as a file that contains the link's target.
LINK = re.compile(rb"(\.{0,2}/)?[\w.-]+(/[\w.-]+)+|\.\./[\w.-]+")
LONGEST_LINK = 255


def check_submission(
    folder: Path, limits: Limits, *, results: bool = False, aside: Collection[Path] = ()
) -> list[Problem]:
    """Return every error that prevents the submission from running, and warnings, without reading its code.

    `results`: whether results are accepted instead of a model. `aside`: folders on `sys.path` that only the caller
    needs: their modules do not count as installed.
    """
    if not folder.is_dir():
        return [_error("submission_missing", "submission", "no such folder", "the unzipped submission", "upload a zip")]
    names = sorted(path.name for path in folder.iterdir())
    return [
        *_check_metadata(names),
        *_check_model(folder, names, results=results),
        *_check_size(folder, limits),
        *_warn_of_names(names, results="model.py" not in names),
        *_warn_of_taken_names(folder, names, {PROGRAM, *aside}),
        *_warn_of_links(folder),
        *_warn_of_placeholders(folder),
    ]


@dataclass(frozen=True)
class Fingerprint:
    """Identifies a submission, whatever the order of its files on disk."""

    sha256: str
    """Over names and contents of all files, 64 hexadecimal digits."""
    files: tuple[str, ...]
    """One entry per file, such as ``0f1e2d3c4b5a6978 model.py``: the first 16 digits of the SHA-256 of its content, and
    its name without folders. At most 2,000 entries, those at the top level first."""


def fingerprint(folder: Path) -> Fingerprint:
    """Hash the files of a submission."""
    total = hashlib.sha256()
    files = {}
    for path in sorted(_files(folder)):
        content = hash_file(path)
        name = path.relative_to(folder).as_posix()
        total.update(f"{name}\0{content}\n".encode(errors="surrogateescape"))
        # A name that is not valid text would break the record.
        known_as = path.name[:LONGEST_NAME].encode("utf-8", "backslashreplace").decode()
        files[f"{content[:16]} {known_as}"] = name.count("/")
    return Fingerprint(total.hexdigest(), tuple(sorted(files, key=lambda file: (files[file], file))[:RECORDED]))


def _check_metadata(names: list[str]) -> Iterator[Problem]:
    for name in METADATA:
        if name in names:
            # The platform would run it in another container, at the same time, with the same output folder.
            fix = f"remove the file {name}"
            yield _error("metadata_present", name, f"a file called {name}", "no such file", fix)


def _check_model(folder: Path, names: list[str], *, results: bool) -> Iterator[Problem]:
    if (folder / "model.py").is_file() and "model.py" in names:
        return
    submitted = [files.predictions for files in find_results(names)]
    if submitted and not results:
        found, fix = f"results instead of code: {_list(submitted)}", "submit the model that made them, as model.py"
        yield _error("results_refused", "submission", found, "model.py, which this phase runs itself", fix)
        return
    if submitted:
        if len(submitted) > 1:
            fix = "keep only the one that counts"
            yield _error("results_ambiguous", "submission", _list(submitted), "one file of predictions", fix)
        return
    inside = [name for name in names if (folder / name / "model.py").is_file()]
    alike = [name for name in names if name.lower() == "model.py"]
    if inside:
        found = f"model.py inside the folder {inside[0]}"
        fix = f"zip the files of {inside[0]}, not the folder itself"
    elif alike:
        found, fix = alike[0], f"rename {alike[0]} to model.py"
    elif results and (explained := [name for name in EXPLANATIONS.values() if name in names]):
        files = " or ".join(name for name, form in PREDICTIONS.items() if EXPLANATIONS[form] in explained)
        found, fix = f"{_list(explained)} without predictions", f"add {files}, or submit model.py"
    elif names:
        found, fix = _list(names), "add model.py"
    else:
        found, fix = "an empty archive", "put model.py into it, at the top"
    yield _error("model_missing", "submission", found, "model.py at the top of the zip", fix)


def _check_size(folder: Path, limits: Limits) -> Iterator[Problem]:
    sizes = {path.relative_to(folder).as_posix(): path.stat().st_size for path in _files(folder)}
    total = sum(sizes.values())
    if total > limits.submission_mb << 20:
        largest = sorted(sizes, key=lambda name: (-sizes[name], name))[:LARGEST_LISTED]
        listed = ", ".join(f"{name} ({_megabytes(sizes[name])})" for name in largest)
        found = f"{_megabytes(total)}; the largest files: {listed}"
        fix = "leave out what the model does not need; halve weights with float16"
        yield _error("submission_too_large", "submission", found, f"at most {limits.submission_mb} MB unzipped", fix)
    if len(sizes) > limits.submission_files:
        found, expected = f"{len(sizes)} files", f"at most {limits.submission_files} files"
        yield _error(
            "submission_too_many_files", "submission", found, expected, "leave out what the model does not need"
        )
    if any(depth == DEEPEST for _, depth in _walk(folder)):
        found, expected = f"folders inside folders, {DEEPEST} deep", "a few folders"
        yield _error("submission_too_many_files", "submission", found, expected, "zip the files that the model needs")


def _warn_of_names(names: list[str], *, results: bool) -> Iterator[Problem]:
    read = frozenset().union(*(files.names for files in find_results(names))) if results else frozenset()
    ignored = [name for name in names if name.lower() in RESULTS and name not in read]
    if ignored:
        # Since pull request 2303, Codabench puts the submission's files beside the results.
        fix = "rename or remove them: only what ingestion records counts, and they may get in its way (results_damaged)"
        yield _warning("results_ignored", _list(ignored), "model.py and what it needs", fix)
    installers = [name for name in names if name.lower() in INSTALLERS]
    if installers:
        fix = "remove them, as nothing is installed; put pure Python modules beside model.py"
        yield _warning("install_ignored", _list(installers), "packages of the image, or modules in the zip", fix)


def _warn_of_taken_names(folder: Path, names: list[str], aside: Collection[Path]) -> Iterator[Problem]:
    taken = []
    paths = [path for path in sys.path if path and Path(path).resolve() not in aside]
    for name in names:
        module = name.removesuffix(".py")
        own = name.endswith(".py") if (folder / name).is_file() else (folder / name / "__init__.py").is_file()
        if own and module.isidentifier():
            installed = PathFinder.find_spec(module, paths)
            if module in sys.stdlib_module_names or (installed is not None and installed.origin is not None):
                taken.append(name)
    if taken:
        fix = "rename them, unless your model is meant to import them instead"
        yield _warning("name_taken", _list(taken), "names that no installed module has", fix)


def _warn_of_links(folder: Path) -> Iterator[Problem]:
    links = sorted(path.relative_to(folder).as_posix() for path, _ in _walk(folder) if _is_link(path))
    if links:
        fix = "zip the files themselves: the platform unpacks a link as a text file"
        yield _warning("link_in_zip", _list(links), "ordinary files", fix)


def _warn_of_placeholders(folder: Path) -> Iterator[Problem]:
    """Find files that were never downloaded: each kind once, with its fix."""
    kinds: dict[tuple[str, str], list[str]] = {}
    for path in sorted(_files(folder)):
        if (kind := placeholder(path)) is not None:
            kinds.setdefault(kind, []).append(path.relative_to(folder).as_posix())
    for (what, fix), names in kinds.items():
        yield _warning("file_placeholder", f"{what}: {_list(names)}", "the file itself", f"{fix}, and zip again")


def _is_link(path: Path) -> bool:
    if path.is_symlink():
        return True
    if not path.is_file() or path.stat().st_size > LONGEST_LINK:
        return False
    content = path.read_bytes()
    if not LINK.fullmatch(content):
        return False
    # A short note may look like a path, but a link's path leads somewhere, or out of the zip.
    target = path.parent / content.decode()
    try:
        return content.startswith((b"/", b"../")) or target.exists()
    except OSError:  # it leads to a place that we may not read
        return True


def _files(folder: Path) -> Iterator[Path]:
    return (path for path, _ in _walk(folder) if path.is_file() and not path.is_symlink())


def _walk(folder: Path) -> Iterator[tuple[Path, int]]:
    """Yield a folder's contents with their depth, down to `DEEPEST`: a zip can nest deeper than Python can recurse."""
    waiting = [(folder, 0)]
    while waiting:
        parent, depth = waiting.pop()
        for entry in os.scandir(parent):
            yield Path(entry.path), depth
            if entry.is_dir(follow_symlinks=False) and depth < DEEPEST:
                waiting.append((Path(entry.path), depth + 1))


def _list(names: list[str]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(name[:80] for name in names[:LISTED]) + more


def _megabytes(size: int) -> str:
    return f"{size / (1 << 20):.1f} MB"


def _error(code: str, where: str, found: str, expected: str, fix: str) -> Problem:
    return Problem(code, "load", where, found, expected, fix)


def _warning(code: str, found: str, expected: str, fix: str) -> Problem:
    return Problem(code, "load", "submission", found, expected, fix, severity="warning")
