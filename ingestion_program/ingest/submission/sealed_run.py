"""A sealed record in place of a model: what `bundle evaluate` left of a submission, under the bundle's key."""

import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingest.clips.table import hash_file
from ingest.errors import Problem
from ingest.record.folder import MANIFEST, RUN
from ingest.record.seal import is_sealed
from ingest.schema import brief

SAME = ("format_version", "task", "data_sha256", "settings_sha256", "program_version")
"""What of `run.json` must be as a run of this phase would write it."""
LARGEST_MANIFEST = 64 << 20


class SealRefused(Exception):
    """A record that is not taken."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.line())
        self.problem = problem


@dataclass(frozen=True)
class SealedRun:
    """A checked record."""

    folder: Path
    run: dict[str, Any]
    """Its `run.json`."""
    files: tuple[str, ...]
    """All files of the record, the manifest last."""

    def copy(self, folder: Path) -> None:
        """Copy the record as it is: its seal holds, and files of the submission beside it are the same ones."""
        for name in self.files:
            (folder / name).parent.mkdir(exist_ok=True)
            shutil.copyfile(self.folder / name, folder / name)


def holds_sealed_run(names: Iterable[str]) -> bool:
    """Whether the files at the top of a submission are a record and no model."""
    present = set(names)
    return {MANIFEST, RUN} <= present and "model.py" not in present


def open_sealed_run(folder: Path, key: bytes, here: Mapping[str, Any]) -> SealedRun:
    """Check the seal and all files of a record, and that it is of this phase, these data and these programs.

    `here`: `run.json` as a run of this phase would write it. Raises SealRefused with the first thing that is wrong.
    """
    try:
        with (folder / MANIFEST).open("rb") as file:
            manifest = json.loads(file.read(LARGEST_MANIFEST))
        sealed = is_sealed(manifest, key)
    except (OSError, ValueError, AttributeError, RecursionError):
        raise _refused(MANIFEST, "a file that cannot be read", "the manifest of a record") from None
    if not sealed:
        raise _refused(MANIFEST, "no seal, or a wrong one", "the seal of this competition's organisers")
    for name, entry in manifest["files"].items():
        if not (folder / name).is_file() or hash_file(folder / name) != entry["sha256"]:
            raise _refused(name, "a file that is missing or changed", "the file with the listed SHA-256")
    run: dict[str, Any] = json.loads((folder / RUN).read_text("utf-8"))
    if "shards" not in run:
        raise _refused(RUN, "the record of a run on the platform", "a record of `bundle evaluate`")
    for name in SAME:
        if run.get(name) != here[name]:
            raise _refused(f"{RUN}, {name}", brief(run.get(name)), brief(here[name]))
    return SealedRun(folder, run, (*manifest["files"], MANIFEST))


def _refused(where: str, found: str, expected: str) -> SealRefused:
    fix = "submit sealed_run.zip as the organisers made it, with this phase as it is now"
    return SealRefused(Problem("sealed_refused", "load", where, found, expected, fix))
