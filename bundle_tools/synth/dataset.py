"""Writing sets of clips: a labelled folder for participants, or the two folders of a phase."""

import csv
import hashlib
import json
import multiprocessing
import shutil
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from bundle_tools.synth.cast import draw_cast
from bundle_tools.synth.clip import ClipSpec, encode, render
from bundle_tools.synth.cues import draw_cues
from bundle_tools.synth.labels import TARGETS, rule_of
from bundle_tools.synth.seeds import opaque_id, stream
from bundle_tools.synth.settings import DISCLOSURES, input_settings, readme, reference_settings

Progress = Callable[[int, int], None]
"""Called with the number of finished clips and of all clips."""

CLIPS_PER_PERSON = 2
TRAINING_CLIPS, TRAINING_SEED = 240, 2017
"""The training set: its labels' means are the constants of the baseline."""
_COMMITTED = {"practice": (24, 72101), "final": (24, 72102)}
_SAMPLE = (12, 72103)


@dataclass(frozen=True)
class Member:
    """One clip of a set."""

    clip_id: str
    """Opaque name of the clip."""
    source_id: str
    """Opaque name of the person."""
    spec: ClipSpec
    """What the clip is."""


def plan(phase: str, *, clips: int, seed: int) -> list[Member]:
    """Return the clips of a set in the order of their opaque ids.

    Parameters
    ----------
    phase
        ``training``, ``practice`` or ``final``.
    clips
        Number of clips, at least 1; two of each person.
    seed
        Any integer >= 0; a set whose labels are secret needs one that nobody can guess.
    """
    if clips < 1 or seed < 0:
        raise ValueError(f"expected clips >= 1 and seed >= 0, found clips = {clips} and seed = {seed}")
    rule = rule_of(phase, seed)
    members = []
    for index in range(clips):
        person = index // CLIPS_PER_PERSON
        source = (phase, "person", person)
        clip = (phase, "clip", index)
        spec = ClipSpec(
            seed=int(stream(seed, *clip).integers(2**62)),
            cast=draw_cast(stream(seed, *source, "cast")),
            cues=draw_cues(stream(seed, *source, "cues"), stream(seed, *clip, "cues")),
            rule=rule,
        )
        members.append(Member(opaque_id("c", seed, *clip), opaque_id("s", seed, *source), spec))
    return sorted(members, key=lambda member: member.clip_id)


@lru_cache(maxsize=1)
def training_means() -> dict[str, float]:
    """Return the mean of every target over the training set, rounded to four decimals."""
    rows = [member.spec.labels() for member in plan("training", clips=TRAINING_CLIPS, seed=TRAINING_SEED)]
    return {name: round(float(np.mean([row[name] for row in rows])), 4) for name in TARGETS}


def write_training(out: Path, *, clips: int, seed: int, workers: int, progress: Progress | None) -> None:
    """Write a labelled set: ``out/clips/*.mp4``, ``labels.csv``, ``transcripts.json`` and ``README.md``.

    Parameters
    ----------
    out
        The folder; made if it is missing, its earlier clips are replaced.
    clips, seed
        How many clips, and where all randomness comes from.
    workers
        Number of processes; 1 renders in this one.
    progress
        Called after each clip.
    """
    members = plan("training", clips=clips, seed=seed)
    out.mkdir(parents=True, exist_ok=True)
    _write_clips(members, out, workers, progress)
    _write_labels(members, out)
    (out / "README.md").write_text(readme(clips), encoding="utf-8")


def write_phase(
    phase: str,
    *,
    clips: int,
    seed: int,
    input_dir: Path,
    reference_dir: Path,
    workers: int,
    progress: Progress | None,
) -> None:
    """Write what ingestion and scoring read of one phase, as docs/data_format.md describes.

    Parameters
    ----------
    phase
        ``practice`` or ``final``.
    clips, seed
        As in `plan`.
    input_dir, reference_dir
        The phase's two folders; made if they are missing, earlier clips are replaced.
    workers, progress
        As in `write_training`.
    """
    if phase not in DISCLOSURES:
        raise ValueError(f"unknown phase {phase!r}: expected one of {', '.join(DISCLOSURES)}")
    members = plan(phase, clips=clips, seed=seed)
    for folder in (input_dir, reference_dir):
        folder.mkdir(parents=True, exist_ok=True)
    digests = _write_clips(members, input_dir, workers, progress)
    rows = [(m.clip_id, f"clips/{m.clip_id}.mp4", digest) for m, digest in zip(members, digests, strict=True)]
    _write_csv(input_dir / "clips.csv", ("clip_id", "file", "sha256"), rows)
    (input_dir / "task.yaml").write_text(input_settings(phase), encoding="utf-8")
    _write_labels(members, reference_dir)
    (reference_dir / "task.yaml").write_text(reference_settings(phase, training_means()), encoding="utf-8")


def write_committed(root: Path, *, workers: int, progress: Progress | None = None) -> None:
    """Write the sets that are part of the repository: both phases and the public sample."""
    for phase, (clips, seed) in _COMMITTED.items():
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


def _render_file(job: tuple[Member, Path]) -> tuple[str, str]:
    """Render one clip into its file; return its transcript and its SHA-256."""
    import cv2  # noqa: PLC0415 - in the worker process only

    cv2.setNumThreads(1)
    member, folder = job
    rendering = render(member.spec)
    data = encode(rendering)
    (folder / f"{member.clip_id}.mp4").write_bytes(data)
    return rendering.transcript, hashlib.sha256(data).hexdigest()


def _write_clips(members: Sequence[Member], folder: Path, workers: int, progress: Progress | None) -> list[str]:
    """Write ``clips/`` and ``transcripts.json``; return the hashes in the order of the members."""
    clips = folder / "clips"
    shutil.rmtree(clips, ignore_errors=True)
    clips.mkdir()
    jobs = [(member, clips) for member in members]
    if workers > 1:
        # Spawned workers start clean: a forked copy of a process with threads may hang.
        with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
            results = _collect(pool.map(_render_file, jobs), len(jobs), progress)
    else:
        results = _collect(map(_render_file, jobs), len(jobs), progress)
    transcripts = {member.clip_id: text for member, (text, _) in zip(members, results, strict=True)}
    text = json.dumps(transcripts, indent=1, ensure_ascii=False) + "\n"
    (folder / "transcripts.json").write_text(text, encoding="utf-8")
    return [digest for _, digest in results]


def _collect(results: Iterable[tuple[str, str]], total: int, progress: Progress | None) -> list[tuple[str, str]]:
    collected = []
    for result in results:
        collected.append(result)
        if progress is not None:
            progress(len(collected), total)
    return collected


def _write_labels(members: Sequence[Member], folder: Path) -> None:
    rows = []
    for member in members:
        labels = member.spec.labels()
        rows.append((member.clip_id, member.source_id, *(labels[name] for name in TARGETS)))
    _write_csv(folder / "labels.csv", ("clip_id", "source_id", *TARGETS), rows)


def _write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
