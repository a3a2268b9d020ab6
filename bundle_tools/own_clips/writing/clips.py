"""Clips from where an organiser has them to where the programs find them: read once, cleaned, hashed while written."""

import hashlib
import json
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from bundle_tools.console import Progress
from bundle_tools.own_clips.files.places import Place, read
from bundle_tools.own_clips.problems import Problems
from bundle_tools.own_clips.writing.media import Facts, Unusable, clean

BATCH = 8
"""Clips that one worker takes at a time."""


@dataclass(frozen=True)
class Job:
    """One clip to make."""

    clip_id: str
    """Its opaque name."""
    place: Place
    """Where its file is."""
    target: Path
    """Where it goes."""


@dataclass(frozen=True)
class Made:
    """A finished clip."""

    sha256: str
    """Of the file, in hexadecimal."""
    size: int
    """Bytes of the file."""
    facts: Facts
    """What its headers say."""


class Workshop:
    """Makes clips, and writes the finished ones down one by one: an interrupted run goes on after them."""

    def __init__(self, journal: Path, height: int | None, problems: Problems, progress: Progress | None) -> None:
        """Read the journal.

        Parameters
        ----------
        journal
            The list of finished clips; it need not exist.
        height
            As in `clean`.
        problems
            Receives the clips that cannot be made.
        progress
            Told of every clip.
        """
        self.finished = dict(_read_journal(journal)) if journal.exists() else {}
        self.kept = 0
        """Clips of an earlier run whose file still has its hash."""
        self._journal, self._height, self._problems, self._progress = journal, height, problems, progress
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._done = self._total = 0

    def make(self, jobs: Sequence[Job], workers: int) -> None:
        """Make all clips that are not finished yet, so many at once; the folders of the targets exist.

        Workers are threads: the codecs let go of the interpreter's lock, and starting processes would take longer than
        a hundred clips.
        """
        self._total = len(jobs)
        with ThreadPoolExecutor(workers) as pool:
            try:
                for _ in pool.map(self._make, batches(jobs)):
                    pass
            except BaseException:
                # Interrupted: the clips that are being made are finished, the others are not begun.
                self._stopped.set()
                raise

    def _make(self, jobs: Sequence[Job]) -> None:
        missing = [job for job in jobs if not self._is_finished(job)]
        for job, (_, content) in zip(missing, read(job.place for job in missing), strict=True):
            if self._stopped.is_set():
                return
            if isinstance(content, str):
                self._refuse("clips that cannot be read", job, content)
            else:
                try:
                    self._note(job.clip_id, _written(content, self._height, job.target))
                except Unusable as error:
                    self._refuse("clips that cannot be used", job, str(error))
            self._count(kept=False)

    def _is_finished(self, job: Job) -> bool:
        known = self.finished.get(job.clip_id)
        if known is None or not job.target.is_file():
            return False
        if hashlib.sha256(job.target.read_bytes()).hexdigest() != known.sha256:
            return False
        self._count(kept=True)
        return True

    def _refuse(self, what: str, job: Job, reason: str) -> None:
        with self._lock:
            fix = "Get them again, or take them out of the labels."
            self._problems.add(what, f"{job.place} ({reason})", fix=fix)

    def _note(self, clip_id: str, made: Made) -> None:
        with self._lock, self._journal.open("a", encoding="utf-8") as file:
            file.write(json.dumps([clip_id, asdict(made)]) + "\n")
            self.finished[clip_id] = made

    def _count(self, *, kept: bool) -> None:
        with self._lock:
            self.kept += kept
            self._done += 1
            if self._progress is not None:
                self._progress(self._done, self._total)


def _read_journal(path: Path) -> Iterator[tuple[str, Made]]:
    for line in path.read_text("utf-8").splitlines():
        try:
            clip_id, made = json.loads(line)
        except ValueError:
            # The line that was being written when the run was cut off: its clip is made again.
            continue
        yield clip_id, Made(**{**made, "facts": Facts(**made["facts"])})


def _written(content: bytes, height: int | None, target: Path) -> Made:
    data, facts = clean(content, height)
    unfinished = target.with_suffix(".part")
    unfinished.write_bytes(data)
    unfinished.replace(target)
    return Made(hashlib.sha256(data).hexdigest(), len(data), facts)


def batches(jobs: Sequence[Job]) -> list[list[Job]]:
    """Cut the jobs into runs of neighbours; what can only be read from its start stays in one run."""
    runs: list[list[Job]] = []
    for job in sorted(jobs, key=lambda job: job.place.order):
        last = runs[-1] if runs else []
        same = bool(last) and last[0].place.container == job.place.container
        if same and (not job.place.direct or len(last) < BATCH):
            last.append(job)
        else:
            runs.append([job])
    return runs
