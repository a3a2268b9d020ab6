"""Copy clips into the phases under opaque names: each is read once, cleaned, and hashed while it is written."""

import hashlib
import json
import secrets
import shutil
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from bundle_tools.atomic import replaced
from bundle_tools.canonical import Facts, canonical
from bundle_tools.console import Progress
from bundle_tools.decoding import Unusable
from bundle_tools.errors import BundleError
from bundle_tools.own_clips.dataset import LabelledClip, Split
from bundle_tools.own_clips.files import Problems, read
from bundle_tools.synthetic.person import opaque_id


@dataclass(frozen=True)
class NamedClip:
    """A clip with the opaque names of itself and its source."""

    clip_id: str
    source_id: str
    part: Split
    clip: LabelledClip

    @property
    def file(self) -> str:
        """Its path in the organiser's folder."""
        return f"{folder_of(self.part)}/clips/{self.clip_id}.mp4"


def folder_of(part: Split) -> str:
    """Return the path of a part in the organiser's folder."""
    return f"input_data/{part.name}" if part.is_phase else "public_data"


def named(dataset: str, parts: Sequence[Split], seed: int) -> list[NamedClip]:
    """Name every clip and source; the clips of a part are sorted by their names, which reveals nothing.

    Raises BundleError when two get the same name, which happens to about one in a thousand sets of 10,000 clips.
    """
    result: list[NamedClip] = []
    for part in parts:
        own = [
            NamedClip(
                opaque_id("c", seed, dataset, "clip", clip.name),
                opaque_id("s", seed, dataset, "source", clip.source),
                part,
                clip,
            )
            for clip in part.clips
        ]
        result += sorted(own, key=lambda entry: entry.clip_id)
    sources = {entry.source_id: entry.clip.source for entry in result}
    if len({entry.clip_id for entry in result}) < len(result) or any(
        sources[entry.source_id] != entry.clip.source for entry in result
    ):
        raise BundleError("two clips got the same opaque name by chance. Take another --seed.")
    return result


SEED_BITS = 128


class StagingFolder:
    """The folder in which everything is made."""

    def __init__(self, out: Path, seed: int | None) -> None:
        """Open the stage of `out`: new, or left by an interrupted run.

        `out`: the final folder, empty or not there yet. `seed`: None uses that of the interrupted run, or a random one.

        Raises BundleError when `out` is not empty, or an interrupted run had another seed.
        """
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise BundleError(f"--out {out}: expected a folder that is empty or new. Choose another one.")
        self.out = out.resolve()
        self.folder = self.out.with_name(self.out.name + ".part")
        self.private = self.folder / "private"
        kept = self.private / "seed.txt"
        if kept.exists():
            earlier = int(kept.read_text("utf-8"))
            if seed not in (None, earlier):
                raise BundleError(f"{self.folder} was started with another seed. Delete it, or leave --seed out.")
            self.seed = earlier
        else:
            self.seed = secrets.randbits(SEED_BITS) if seed is None else seed

    def check_apart(self, option: str, source: Path, problems: Problems) -> None:
        """Report an output folder inside the input folder: after an interruption, a run would read its own clips."""
        if self.out.is_relative_to(source.resolve()):
            where = f"{self.out} in {source}"
            problems.add(f"--out inside the folder of {option}", where, fix="Choose a folder outside it.")

    def begin(self, plan: str) -> None:
        """Make the folder; `plan` describes what will be made.

        Raises BundleError when an interrupted run had another plan.
        """
        noted = self.private / "plan.txt"
        if noted.exists() and noted.read_text("utf-8") != plan:
            raise BundleError(
                f"{self.folder} was started with other options or files. Delete it, or repeat the options."
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        self.private.mkdir(mode=0o700, exist_ok=True)
        (self.private / "seed.txt").write_text(f"{self.seed}\n", "utf-8")
        noted.write_text(plan, "utf-8")

    @property
    def journal(self) -> Path:
        """The file that lists finished clips."""
        return self.private / "finished.jsonl"

    def check_space(self, needed: int) -> None:
        """Stop before a disk is full.

        Raises BundleError when there is not enough free space.
        """
        free = shutil.disk_usage(self.folder).free
        if needed > free:
            raise BundleError(
                f"{self.folder}: expected {needed / 1e9:.1f} GB of free space, found {free / 1e9:.1f} GB. "
                "Take another disk for --out, or --reencode."
            )

    def finish(self) -> None:
        """Rename the folder to its final name."""
        for name in ("plan.txt", "finished.jsonl"):
            (self.private / name).unlink(missing_ok=True)
        if self.out.exists():
            self.out.rmdir()
        self.folder.rename(self.out)


BATCH = 8
"""Number of clips that a worker takes at a time."""


@dataclass(frozen=True)
class CleanClip:
    """A finished clip."""

    sha256: str
    size: int
    facts: Facts


class Workshop:
    """Makes clips and records each finished one, so that an interrupted run can continue."""

    def __init__(
        self, staging: StagingFolder, height: int | None, problems: Problems, progress: Progress | None
    ) -> None:
        """Read the clips that an interrupted run has finished.

        `height`: as in `canonical`. `problems`: receives the clips that cannot be made.
        """
        self.finished = dict(_read_journal(staging.journal)) if staging.journal.exists() else {}
        self.kept = 0
        """Number of clips from an earlier run whose file still matches its hash."""
        self._staging, self._height, self._problems, self._progress = staging, height, problems, progress
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._done = self._total = 0

    def make(self, clips: Sequence[NamedClip], workers: int) -> None:
        """Make all unfinished clips, several in parallel.

        Workers are threads: the codecs release the interpreter's lock, and starting processes would take longer than a
        hundred clips.
        """
        self._total = len(clips)
        for folder in {self._path(entry).parent for entry in clips}:
            folder.mkdir(parents=True, exist_ok=True)
        with ThreadPoolExecutor(workers) as pool:
            try:
                for _ in pool.map(self._make, batches(clips)):
                    pass
            except BaseException:
                # Interrupted: finish the clips in progress, but start no others.
                self._stopped.set()
                raise

    def _path(self, entry: NamedClip) -> Path:
        return self._staging.folder / entry.file

    def _make(self, clips: Sequence[NamedClip]) -> None:
        missing = [entry for entry in clips if not self._is_finished(entry)]
        for entry, (_, content) in zip(missing, read(entry.clip.location for entry in missing), strict=True):
            if self._stopped.is_set():
                return
            if isinstance(content, str):
                self._refuse("clips that cannot be read", entry, content)
            elif len(content) != entry.clip.location.size:
                changed = f"{entry.clip.location.size} bytes when it was listed, {len(content)} when it was read"
                self._refuse("clips that changed during the run", entry, changed)
            else:
                try:
                    self._write(entry, *canonical(content, self._height))
                except Unusable as error:
                    self._refuse("clips that cannot be used", entry, str(error))
            self._count(kept=False)

    def _is_finished(self, entry: NamedClip) -> bool:
        known, path = self.finished.get(entry.clip_id), self._path(entry)
        if known is None or not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != known.sha256:
            return False
        self._count(kept=True)
        return True

    def _refuse(self, what: str, entry: NamedClip, reason: str) -> None:
        with self._lock:
            fix = "Get them again, or remove them from the folder and the labels."
            self._problems.add(what, f"{entry.clip.location} ({reason})", fix=fix)

    def _write(self, clip: NamedClip, data: bytes, facts: Facts) -> None:
        with replaced(self._path(clip)) as unfinished:
            unfinished.write_bytes(data)
        made = CleanClip(hashlib.sha256(data).hexdigest(), len(data), facts)
        with self._lock, self._staging.journal.open("a", encoding="utf-8") as file:
            file.write(json.dumps([clip.clip_id, asdict(made)]) + "\n")
            self.finished[clip.clip_id] = made

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
        facts = {**made["facts"], "encoded": tuple(made["facts"]["encoded"])}
        yield clip_id, CleanClip(**{**made, "facts": Facts(**facts)})


def batches(clips: Sequence[NamedClip]) -> list[list[NamedClip]]:
    """Divide the clips into batches of neighbours; clips of a nested archive stay in one batch."""
    runs: list[list[NamedClip]] = []
    for entry in sorted(clips, key=lambda entry: entry.clip.location.order):
        file, last = entry.clip.location, runs[-1] if runs else []
        same = bool(last) and last[0].clip.location.container == file.container
        if same and (file.is_nested or len(last) < BATCH):
            last.append(entry)
        else:
            runs.append([entry])
    return runs
