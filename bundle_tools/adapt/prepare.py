"""Clips from where an organiser has them to where the programs find them: read once, cleaned, hashed while written."""

import csv
import hashlib
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bundle_tools.adapt.media import Treatment, Unusable, clean
from bundle_tools.adapt.mp4 import Content, Facts
from bundle_tools.adapt.places import Place, read
from bundle_tools.adapt.problems import Problems
from bundle_tools.console import Progress

BATCH = 8
"""Clips that one worker takes at a time."""
PIECE = 1 << 18
"""Bytes that are hashed and written at a time: they stay in the processor's cache, and larger writes take longer."""


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
class Prepared:
    """A finished clip."""

    sha256: str
    """Of the file, in hexadecimal."""
    size: int
    """Bytes of the file."""
    facts: Facts
    """What its headers say."""


class Journal:
    """The finished clips, written down one by one: an interrupted run goes on after them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self.finished = dict(_read_journal(path)) if path.exists() else {}

    def add(self, clip_id: str, prepared: Prepared) -> None:
        """Write down one clip."""
        facts = prepared.facts
        row = (clip_id, prepared.sha256, prepared.size, facts.duration_s, facts.width, facts.height, int(facts.sound))
        with self._lock, self._path.open("a", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerow(row)
            self.finished[clip_id] = prepared


def _read_journal(path: Path) -> Iterator[tuple[str, Prepared]]:
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.reader(file):
            try:
                clip_id, sha256, size, duration, width, height, sound = row
                facts = Facts(float(duration), int(width), int(height), sound == "1")
                yield clip_id, Prepared(sha256, int(size), facts)
            except ValueError:
                # The line that was being written when the run was cut off: its clip is made again.
                continue


def prepare(
    jobs: Sequence[Job],
    treatment: Treatment,
    journal: Journal,
    *,
    problems: Problems,
    workers: int,
    progress: Progress | None = None,
) -> int:
    """Make all clips that are not finished yet.

    Workers are threads: reading, hashing, writing and the codecs all let go of the interpreter's lock, and starting
    processes would take longer than a hundred clips.

    Parameters
    ----------
    jobs
        What to make; the folders of the targets exist.
    treatment
        What is done to every clip.
    journal
        Knows what is finished, and learns of the rest. A finished clip is kept if its file still has its hash.
    problems
        Receives the clips that cannot be made.
    workers
        How many clips are made at once.
    progress
        Told of every clip.

    Returns
    -------
    int
        How many finished clips were kept.
    """
    work = _Work(treatment, journal, problems, progress, len(jobs))
    with ThreadPoolExecutor(workers) as pool:
        try:
            for _ in pool.map(work.make, batches(jobs)):
                pass
        except BaseException:
            # Interrupted: the clips that are being made are finished, the others are not begun.
            work.stopped.set()
            raise
    return work.kept


class _Work:
    """What the workers share."""

    def __init__(
        self, treatment: Treatment, journal: Journal, problems: Problems, progress: Progress | None, total: int
    ) -> None:
        self.stopped = threading.Event()
        self.kept = 0
        self._treatment, self._journal, self._problems = treatment, journal, problems
        self._progress, self._total, self._done = progress, total, 0
        self._lock = threading.Lock()

    def make(self, jobs: Sequence[Job]) -> None:
        """Make the clips of one batch."""
        missing = [job for job in jobs if not self._is_finished(job)]
        for job, (_, content) in zip(missing, read(job.place for job in missing), strict=True):
            if self.stopped.is_set():
                return
            if isinstance(content, str):
                self._refuse("clips that cannot be read", job, content)
            else:
                try:
                    self._journal.add(job.clip_id, _write(*clean(content, self._treatment), job.target))
                except Unusable as error:
                    self._refuse("clips that cannot be used", job, str(error))
            self._count(kept=False)

    def _is_finished(self, job: Job) -> bool:
        known = self._journal.finished.get(job.clip_id)
        if known is None or not job.target.is_file():
            return False
        with job.target.open("rb") as file:
            same = hashlib.file_digest(file, "sha256").hexdigest() == known.sha256
        if same:
            self._count(kept=True)
        return same

    def _refuse(self, what: str, job: Job, reason: str) -> None:
        with self._lock:
            self._problems.add(what, f"{job.place} ({reason})", "Get them again, or take them out of the labels.")

    def _count(self, *, kept: bool) -> None:
        with self._lock:
            self.kept += kept
            self._done += 1
            if self._progress is not None:
                self._progress(self._done, self._total)


def _write(data: Content, facts: Facts, target: Path) -> Prepared:
    unfinished = target.with_suffix(".part")
    digest = hashlib.sha256()
    with unfinished.open("wb") as file, memoryview(data) as content:
        for start in range(0, len(content), PIECE):
            piece = content[start : start + PIECE]
            digest.update(piece)
            file.write(piece)
    unfinished.replace(target)
    return Prepared(digest.hexdigest(), len(data), facts)


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
