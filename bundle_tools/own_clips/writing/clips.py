"""Copy an organiser's clips into the phases: each is read once, cleaned, and hashed while it is written."""

import hashlib
import json
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from bundle_tools.console import Progress
from bundle_tools.own_clips.files import read
from bundle_tools.own_clips.problems import Problems
from bundle_tools.own_clips.writing.media import Facts, Unusable, clean
from bundle_tools.own_clips.writing.names import Named
from bundle_tools.own_clips.writing.stage import Stage
from bundle_tools.whole import replaced

BATCH = 8
"""Number of clips that a worker takes at a time."""


@dataclass(frozen=True)
class CleanClip:
    """A finished clip."""

    sha256: str
    """Hash of the file, in hexadecimal."""
    size: int
    """Size of the file, bytes."""
    facts: Facts
    """Properties according to its headers."""


class Workshop:
    """Makes clips and records each finished one, so that an interrupted run can continue."""

    def __init__(self, stage: Stage, height: int | None, problems: Problems, progress: Progress | None) -> None:
        """Read the clips that an interrupted run has finished.

        Parameters
        ----------
        stage
            The folder for the clips and for the list of finished ones.
        height
            As in `clean`.
        problems
            Receives the clips that cannot be made.
        progress
            Progress callback, called per clip.
        """
        self.finished = dict(_read_journal(stage.journal)) if stage.journal.exists() else {}
        self.kept = 0
        """Number of clips from an earlier run whose file still matches its hash."""
        self._stage, self._height, self._problems, self._progress = stage, height, problems, progress
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._done = self._total = 0

    def make(self, clips: Sequence[Named], workers: int) -> None:
        """Make all unfinished clips, several in parallel.

        Workers are threads: the codecs release the interpreter's lock, and starting processes would take longer than a
        hundred clips.
        """
        self._total = len(clips)
        for folder in {self._path(one).parent for one in clips}:
            folder.mkdir(parents=True, exist_ok=True)
        with ThreadPoolExecutor(workers) as pool:
            try:
                for _ in pool.map(self._make, batches(clips)):
                    pass
            except BaseException:
                # Interrupted: finish the clips in progress, but start no others.
                self._stopped.set()
                raise

    def _path(self, one: Named) -> Path:
        return self._stage.folder / one.file

    def _make(self, clips: Sequence[Named]) -> None:
        missing = [one for one in clips if not self._is_finished(one)]
        for one, (_, content) in zip(missing, read(one.clip.place for one in missing), strict=True):
            if self._stopped.is_set():
                return
            if isinstance(content, str):
                self._refuse("clips that cannot be read", one, content)
            elif len(content) != one.clip.place.size:
                changed = f"{one.clip.place.size} bytes when it was listed, {len(content)} when it was read"
                self._refuse("clips that changed during the run", one, changed)
            else:
                try:
                    self._note(one.clip_id, _written(content, self._height, self._path(one)))
                except Unusable as error:
                    self._refuse("clips that cannot be used", one, str(error))
            self._count(kept=False)

    def _is_finished(self, one: Named) -> bool:
        known, path = self.finished.get(one.clip_id), self._path(one)
        if known is None or not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != known.sha256:
            return False
        self._count(kept=True)
        return True

    def _refuse(self, what: str, one: Named, reason: str) -> None:
        with self._lock:
            fix = "Get them again, or remove them from the folder and the labels."
            self._problems.add(what, f"{one.clip.place} ({reason})", fix=fix)

    def _note(self, clip_id: str, made: CleanClip) -> None:
        with self._lock, self._stage.journal.open("a", encoding="utf-8") as file:
            file.write(json.dumps([clip_id, asdict(made)]) + "\n")
            self.finished[clip_id] = made

    def _count(self, *, kept: bool) -> None:
        with self._lock:
            self.kept += kept
            self._done += 1
            if self._progress is not None:
                self._progress(self._done, self._total)


def _read_journal(path: Path) -> Iterator[tuple[str, CleanClip]]:
    for line in path.read_text("utf-8").splitlines():
        try:
            clip_id, made = json.loads(line)
        except ValueError:
            # A line cut off when the run was interrupted: its clip is made again.
            continue
        yield clip_id, CleanClip(**{**made, "facts": Facts(**made["facts"])})


def _written(content: bytes, height: int | None, target: Path) -> CleanClip:
    data, facts = clean(content, height)
    with replaced(target) as unfinished:
        unfinished.write_bytes(data)
    return CleanClip(hashlib.sha256(data).hexdigest(), len(data), facts)


def batches(clips: Sequence[Named]) -> list[list[Named]]:
    """Divide the clips into batches of neighbours; clips of a nested archive stay in one batch."""
    runs: list[list[Named]] = []
    for one in sorted(clips, key=lambda one: one.clip.place.order):
        place, last = one.clip.place, runs[-1] if runs else []
        same = bool(last) and last[0].clip.place.container == place.container
        if same and (place.is_nested or len(last) < BATCH):
            last.append(one)
        else:
            runs.append([one])
    return runs
