"""Writing sets of clips: a labelled folder for participants, or the two folders of a phase."""

import hashlib
import multiprocessing
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from bundle_tools.phase_data.files import by_clip, write_key_frames, write_transcripts
from bundle_tools.synthetic.causes import as_entry, contributions
from bundle_tools.synthetic.clip import COLUMNS, DURATION_S, ROWS, encode, occupied, render, script_of
from bundle_tools.synthetic.dataset import (
    DATA_VERSION,
    PHASES,
    Member,
    input_settings,
    plan,
    readme,
    reference_settings,
    training_means,
)
from bundle_tools.synthetic.exchange import FORMAT_VERSION, exchange_of, parts_of
from bundle_tools.synthetic.exchange import as_entry as as_exchange
from bundle_tools.synthetic.person import MAIN_TARGET, TARGETS, groups_of, stream
from bundle_tools.synthetic.script import explain
from bundle_tools.tables import write_table

Progress = Callable[[int, int], None]
"""Called with the number of finished clips and of all clips."""

COMMITTED = {"practice": (24, 72101), "final": (24, 72102)}
"""Clips and seed of the phases in the repository."""
_SAMPLE = (12, 72103)
VERSION_LINE = re.compile(rb"^(data_version:[ \t]*)[^\s#]+", re.MULTILINE)
VERSION_DIGITS = 8


@dataclass(frozen=True)
class _Job:
    """One clip to make."""

    member: Member
    out: Path
    """Folder that holds ``clips/`` and, for a phase, ``copies/`` and ``exchanges/``."""
    of_phase: bool
    """Whether copies, an exchange and causes are made, too."""


@dataclass(frozen=True)
class _Made:
    """The result for one clip."""

    transcripts: dict[str, str]
    """By id of the clip and of its copies."""
    digests: dict[str, str]
    """SHA-256 of every file by its id."""
    causes: dict[str, object]
    """The clip's entry of causes.json; empty unless it belongs to a phase."""
    exchange: dict[str, object]
    """The clip's entry of exchanges.json; empty unless it belongs to a phase."""


def write_training(
    out: Path, *, clips: int, seed: int, workers: int, progress: Progress | None, split: str = "independent"
) -> None:
    """Write a labelled set: ``out/clips/*.mp4``, ``labels.csv``, ``transcripts.json`` and ``README.md``.

    `out`: the folder; made if it is missing, its earlier clips are replaced. `workers`: number of processes; 1 renders
    in this one.
    """
    members = plan("training", clips=clips, seed=seed, split=split)
    _fresh(out / "clips")
    made = _make([_Job(member, out, of_phase=False) for member in members], workers, progress)
    write_transcripts(out, _transcripts(made))
    _write_labels(members, out)
    (out / "README.md").write_text(readme(clips, split), encoding="utf-8")


def write_phase(
    phase: str,
    *,
    clips: int,
    seed: int,
    input_dir: Path,
    reference_dir: Path,
    workers: int,
    progress: Progress | None,
    keep_settings: bool = False,
) -> None:
    """Write what ingestion and scoring read of one phase, as docs/data_format.md describes.

    Everything is first made elsewhere, so an interruption keeps the old files.

    `phase`: ``practice`` or ``final``.
    `input_dir` and `reference_dir`: the phase's two folders; made if they are missing, earlier clips and copies are
    replaced.
    `keep_settings`: whether to keep an existing ``task.yaml``, except for its ``data_version``, which depends on the
    clips.
    """
    if phase not in PHASES:
        raise ValueError(f"unknown phase {phase!r}: expected one of {', '.join(PHASES)}")
    members = plan(phase, clips=clips, seed=seed)
    # Beside the phase, so that finished folders only have to be renamed.
    input_dir.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".bundle-phase-", dir=input_dir.parent) as temporary:
        input_made, reference_made = Path(temporary, "input"), Path(temporary, "reference")
        _make_phase(phase, members, input_made, reference_made, workers, progress)
        digest = hashlib.sha256((input_made / "clips.csv").read_bytes())  # of the list: it does not reveal the seed
        version = f"{DATA_VERSION}-{digest.hexdigest()[:VERSION_DIGITS]}"
        for made, folder in ((input_made, input_dir), (reference_made, reference_dir)):
            if keep_settings:
                there = folder if (folder / "task.yaml").exists() else made
                content = (there / "task.yaml").read_bytes()
                (made / "task.yaml").write_bytes(VERSION_LINE.sub(rb"\g<1>" + version.encode(), content, count=1))
            folder.mkdir(parents=True, exist_ok=True)
            for path in made.iterdir():  # each takes the place of an old one with its name
                if (folder / path.name).is_dir():
                    shutil.rmtree(folder / path.name)
                shutil.move(path, folder / path.name)
    # Baseline scores on earlier clips would be wrong; `bundle data baselines` computes new ones.
    (reference_dir / "landmarks.json").unlink(missing_ok=True)


def _make_phase(
    phase: str, members: Sequence[Member], input_dir: Path, reference_dir: Path, workers: int, progress: Progress | None
) -> None:
    """Write the two folders of a phase, which do not exist yet."""
    for folder in ("clips", "copies", "exchanges"):
        _fresh(input_dir / folder)
    reference_dir.mkdir()
    made = _make([_Job(member, input_dir, of_phase=True) for member in members], workers, progress)
    digests = {name: digest for clip_made in made for name, digest in clip_made.digests.items()}
    rows = [(m.clip_id, f"clips/{m.clip_id}.mp4", digests[m.clip_id]) for m in members]
    write_table(input_dir / "clips.csv", ("clip_id", "file", "sha256"), rows)
    copies = [
        (copy.copy_id, member.clip_id, copy.cue, f"copies/{copy.copy_id}.mp4", digests[copy.copy_id])
        for member in members
        for copy in member.copies
    ]
    write_table(input_dir / "copies.csv", ("copy_id", "clip_id", "cue", "file", "sha256"), sorted(copies))
    write_transcripts(input_dir, _transcripts(made))
    exchanges = {member.clip_id: clip_made.exchange for member, clip_made in zip(members, made, strict=True)}
    (input_dir / "exchanges.json").write_text(by_clip({"format_version": FORMAT_VERSION}, exchanges), encoding="utf-8")
    (input_dir / "task.yaml").write_text(input_settings(phase), encoding="utf-8")
    _write_labels(members, reference_dir)
    head = {"format_version": 1, "grid": {"rows": ROWS, "columns": COLUMNS}, "bin_s": 1.0}
    causes = {member.clip_id: clip_made.causes for member, clip_made in zip(members, made, strict=True)}
    (reference_dir / "causes.json").write_text(by_clip(head, causes), encoding="utf-8")
    if PHASES[phase]:
        write_key_frames([(m.clip_id, input_dir / "clips" / f"{m.clip_id}.mp4") for m in members], reference_dir)
    people = dict(sorted((member.source_id, groups_of(member.spec.cast)) for member in members))
    columns = "source_id", *next(iter(people.values()))
    write_table(reference_dir / "groups.csv", columns, [(source, *of.values()) for source, of in people.items()])
    (reference_dir / "task.yaml").write_text(reference_settings(phase, training_means()), encoding="utf-8")


def write_committed(root: Path, *, workers: int, progress: Progress | None = None) -> None:
    """Write the sets that are part of the repository: both phases and the public sample."""
    for phase, (clips, seed) in COMMITTED.items():
        write_phase(
            phase,
            clips=clips,
            seed=seed,
            input_dir=root / "input_data" / phase,
            reference_dir=root / "reference_data" / phase,
            workers=workers,
            progress=progress,
        )
    clips, seed = _SAMPLE
    write_training(root / "public_data", clips=clips, seed=seed, workers=workers, progress=progress)


def _make_one(job: _Job) -> _Made:
    """Render a clip, its copies and its exchange into their files, and find its causes."""
    cv2.setNumThreads(1)
    member = job.member
    drawn = {f"clips/{member.clip_id}.mp4": member.spec}
    exchange = f"exchanges/{member.exchange_id}.mp4"
    parts = parts_of(member.spec) if job.of_phase else []
    if job.of_phase:
        drawn |= {f"copies/{copy.copy_id}.mp4": copy.spec for copy in member.copies}
        drawn[exchange] = exchange_of(member.spec, parts)
    renderings = [render(spec) for spec in drawn.values()]
    digests, transcripts = {}, {}
    for file, data, rendering in zip(drawn, encode(renderings), renderings, strict=True):
        (job.out / file).write_bytes(data)
        digests[Path(file).stem] = hashlib.sha256(data).hexdigest()
        if file != exchange:  # only parts of it are shown, with the words of the clip
            transcripts[Path(file).stem] = rendering.transcript
    if not job.of_phase:
        return _Made(transcripts, digests, {}, {})
    entry = as_exchange(parts, exchange, digests[member.exchange_id])
    return _Made(transcripts, digests, _causes(member), entry)


def _causes(member: Member) -> dict[str, object]:
    spec = member.spec
    shares = contributions(spec.rule, spec.cues)[MAIN_TARGET]
    label = spec.labels()[MAIN_TARGET]
    texts = explain(spec.cues, shares, label, f"the {MAIN_TARGET} score", stream(spec.seed, "telling"))
    spoken: NDArray[np.bool_] = np.zeros(DURATION_S, bool)
    spoken[[int(second) for second in script_of(spec).telling_s]] = True
    return as_entry(spec.rule, spec.cues, occupied(spec), spoken, texts)


def _make(jobs: Sequence[_Job], workers: int, progress: Progress | None) -> list[_Made]:
    """Make all clips, in the order of the jobs."""
    if workers == 1:
        return _collect(map(_make_one, jobs), len(jobs), progress)
    # Spawned workers start clean: a forked copy of a process with threads may hang.
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        return _collect(pool.map(_make_one, jobs), len(jobs), progress)


def _collect(results: Iterable[_Made], total: int, progress: Progress | None) -> list[_Made]:
    collected = []
    for result in results:
        collected.append(result)
        if progress is not None:
            progress(len(collected), total)
    return collected


def _fresh(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def _transcripts(made: Iterable[_Made]) -> dict[str, str]:
    return {clip_id: text for clip_made in made for clip_id, text in clip_made.transcripts.items()}


def _write_labels(members: Sequence[Member], folder: Path) -> None:
    rows = []
    for member in members:
        labels = member.spec.labels()
        rows.append((member.clip_id, member.source_id, *(labels[name] for name in TARGETS)))
    write_table(folder / "labels.csv", ("clip_id", "source_id", *TARGETS), rows)
