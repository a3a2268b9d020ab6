"""The result of a shard: a folder with answers, times and a manifest, sealed with the shard's own key."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ingest.clips.table import hash_file
from ingest.errors import IngestionError, Problem
from ingest.record.folder import write_file
from ingest.record.seal import is_sealed, seal
from ingest.shards.coding import built, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from ingest.confined.processor import Processor
    from ingest.lanes.asker import Answer, Loaded, Work
    from model_process.sandbox import Isolated

FORMAT_VERSION = 1
ANSWERS, TIMES, OUTPUT, MANIFEST = "answers.jsonl", "times.jsonl", "output.bin", "manifest.json"
"""`ANSWERS` holds nothing that depends on time: two runs of one shard leave the same bytes."""
FILES = (ANSWERS, TIMES, OUTPUT)


@dataclass(frozen=True)
class Facts:
    """How a shard's process went."""

    loaded: Loaded | None = None
    """None if the model could not be loaded."""
    stopped_by: Problem | None = None
    """Why works are left open: the model could not be loaded (again); None if time ran out, or nothing is open."""
    held: Isolated | None = None
    """How the model was isolated."""
    refused: dict[str, int] = field(default_factory=dict)
    """How often each system call was refused."""
    used: Processor | None = None
    """Processor time."""
    machine: str = ""
    """The machine that ran it."""
    elapsed_s: float = 0.0
    """Seconds from start to seal."""


class Writer:
    """Writes the result of one shard, work by work."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._answers = (folder / ANSWERS).open("w", encoding="ascii")
        self._times = (folder / TIMES).open("w", encoding="ascii")

    def add(self, work: Work, answers: Sequence[Answer]) -> None:
        """Write the answers to one work, fewer than its questions if the shard stopped there."""
        exact = [replace(answer, seconds={}, took_s=0.0) for answer in answers]
        self._answers.write(_line({"clip_id": work.clip_id, "answers": plain(exact)}))
        self._times.write(_line([[answer.seconds, answer.took_s] for answer in answers]))

    def seal(self, place: dict[str, Any], facts: Facts, output: bytes, key: bytes) -> None:
        """Write the manifest; `place` says which shard of which plan this is."""
        for file in (self._answers, self._times):
            file.close()
        (self._folder / OUTPUT).write_bytes(output)
        hashes = {name: hash_file(self._folder / name) for name in FILES}
        manifest = {"format_version": FORMAT_VERSION, **place, "files": hashes, "facts": plain(dict(vars(facts)))}
        manifest["seal"] = seal(manifest, key)
        write_file(self._folder / MANIFEST, (json.dumps(manifest, indent=1) + "\n").encode())


class Sealed:
    """The checked result of one shard; answers are read when they are asked for."""

    def __init__(self, folder: Path, place: dict[str, Any], clip_ids: tuple[str, ...], key: bytes) -> None:
        """Check the seal, that it is the shard in `place`, and every file.

        Parameters
        ----------
        place
            Plan, stage, index and the hash of the works, as the shard's manifest must state them.
        clip_ids
            The clips of the works.

        Raises
        ------
        IngestionError
            When it is not what this shard left.
        """
        name = f"shard {place['stage']} {place['index']}"
        try:
            manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
            given = {key: manifest[key] for key in place}
            files = manifest["files"]
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            raise _error(name, folder, "a manifest that cannot be read") from None
        for key_of, what in (("plan", "another plan"), ("stage", "another shard"), ("index", "another shard")):
            if given[key_of] != place[key_of]:
                raise _error(name, folder, f"the result of {what}")
        if given != place:
            raise _error(name, folder, "the result of other works")
        if not is_sealed(manifest, key):
            raise _error(name, folder, "a wrong seal")
        for file in FILES:
            if not (folder / file).is_file() or files.get(file) != hash_file(folder / file):
                raise _error(name, folder, f"{file} changed or missing")
        self.name, self.folder, self.clip_ids = name, folder, clip_ids
        self.facts = Facts(**built(manifest["facts"]))
        self._where: dict[str, tuple[int, int]] = {}
        with (folder / ANSWERS).open("rb") as answers, (folder / TIMES).open("rb") as times:
            first = second = 0
            for line in answers:
                self._where[json.loads(line)["clip_id"]] = first, second
                first, second = first + len(line), second + len(times.readline())

    def answers(self, clip_id: str) -> list[Answer]:
        """Return the answers to one work; fewer than its questions if the shard stopped there, or before."""
        if clip_id not in self._where:
            return []
        first, second = self._where[clip_id]
        with (self.folder / ANSWERS).open("rb") as answers, (self.folder / TIMES).open("rb") as times:
            answers.seek(first)
            times.seek(second)
            exact, took = built(json.loads(answers.readline())["answers"]), json.loads(times.readline())
        return [
            replace(answer, seconds=seconds, took_s=took_s)
            for answer, (seconds, took_s) in zip(exact, took, strict=True)
        ]

    @property
    def output(self) -> bytes:
        """The end of what the model printed."""
        return (self.folder / OUTPUT).read_bytes()


def refused(where: str, found: str, fix: str) -> Problem:
    """Return the problem that a result cannot be used."""
    return Problem("shard_refused", "run", where, found, "what this shard left, under its seal", fix, fault="organiser")


def _error(name: str, folder: Path, found: str) -> IngestionError:
    return IngestionError([refused(name, found, f"remove {folder.name} from the results, and run that shard again")])


def _line(value: Iterable[Any]) -> str:
    return json.dumps(value, allow_nan=False, separators=(",", ":")) + "\n"
