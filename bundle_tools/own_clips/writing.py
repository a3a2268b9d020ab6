"""An organiser's folder from a labelled set: both sides of every phase, public data, and private files.

Everything is made in a folder next to the target, which gets the target's name once complete: the result is all or
nothing. If a run is interrupted, that folder keeps the finished clips.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bundle_tools.atomic import replaced, write_text
from bundle_tools.canonical import FORM_VERSION
from bundle_tools.challenge.rules.lengths import short_clips
from bundle_tools.console import Progress, counted
from bundle_tools.own_clips.clips import CleanClip, NamedClip, StagingFolder, Workshop, folder_of, named
from bundle_tools.own_clips.dataset import LabelledSet, Split
from bundle_tools.own_clips.files import Problems
from bundle_tools.phase_data.files import templates_in, write_transcripts
from bundle_tools.phase_data.settings import TIME_LIMIT_S, PhaseValues, input_settings, reference_settings
from bundle_tools.tables import write_table

SUMS = "SHA256SUMS"
ALIASES = "aliases.csv"
"""Older names of clips, for phases that accept results of older challenges."""
UNKNOWN = "unknown"
"""The group of a clip whose attribute is unknown."""
TEMPLATES = Path(__file__).with_name("templates")


@dataclass(frozen=True)
class SetOptions:
    """An organiser's choices other than clips, labels and challenge."""

    height: int | None = None
    """Height in pixels at which to re-encode all clips; None keeps pictures and sound as they are."""
    time_limit_s: int = TIME_LIMIT_S
    """Time limit of a phase, seconds: the same as `execution_time_limit` in competition.yaml."""
    rank_by: str = "prediction"
    """Ranking of the leaderboard: prediction or explanation; `bundle data exchanges` earns the latter."""
    old_targets: Mapping[str, str] | None = None
    """Older names of targets, if participants may submit results in place of code; None to accept only code."""


@dataclass(frozen=True)
class Written:
    """Result of writing a set."""

    kept: int
    """Number of clips that an interrupted run had finished."""
    constants: Mapping[str, float]
    """Mean of every target over the training clips."""
    encoded: Mapping[str, Sequence[str]]
    """What was not canonical in clips that had to be re-encoded, by their true names: `canonical.KINDS`."""
    remarks: Sequence[str]
    """What is to be said of short and silent clips, a line each."""


def write(
    dataset: LabelledSet,
    parts: Sequence[Split],
    staging: StagingFolder,
    options: SetOptions,
    *,
    notes: str,
    workers: int,
    progress: Progress | None = None,
    finish: Callable[[Path, Mapping[str, float]], None] | None = None,
) -> Written:
    """Write a set as an organiser's folder.

    `parts`: the clips of each phase and of the public data. The constants are the means of the public clips, or of all
    clips if none are public. `notes`: what participants must know about the clips, in Markdown, for the README of the
    public data. `workers`: clips made in parallel. `finish`: called with the folder and the constants once all data are
    written, to add anything else.

    Raises BundleError when clips cannot be made; names all of them. The finished ones are kept in the stage.
    """
    clips = named(dataset.name, parts, staging.seed)
    made, kept = _make_clips(clips, staging, options.height, workers, progress)
    challenge = dataset.challenge
    training = [clip for part in parts if not part.is_phase for clip in part.clips] or dataset.clips
    means = np.mean([clip.labels for clip in training], axis=0)
    constants = {target.name: round(float(mean), 4) for target, mean in zip(challenge.targets, means, strict=True)}
    lines = sorted(
        f"{entry.part.name},{entry.clip_id},{made[entry.clip_id].sha256},{entry.clip.labels}" for entry in clips
    )
    version = f"{dataset.name}-{hashlib.sha256(chr(10).join(lines).encode()).hexdigest()[:8]}"
    for part in parts:
        own = [entry for entry in clips if entry.part is part]
        part_folder = staging.folder / folder_of(part)
        write_transcripts(part_folder, {entry.clip_id: entry.clip.transcript for entry in own})
        if part.is_phase:
            phase = PhaseValues(part.name, version, part.is_open)
            _write_input(dataset, phase, own, part_folder, options, made)
            _write_reference(dataset, phase, own, staging.folder / "reference_data" / part.name, options, constants)
        else:
            _write_labels(dataset, own, part_folder)
            facts = {"clips": own, "targets": challenge.targets, "ratings": dataset.ratings, "notes": notes}
            _write_text("public.md.j2", part_folder / "README.md", **facts)
    _write_private(clips, staging.private, made)
    if finish is not None:
        finish(staging.folder, constants)
    _write_sums(staging.folder, {entry.file: made[entry.clip_id].sha256 for entry in clips})
    staging.finish()
    encoded = {entry.clip.name: made[entry.clip_id].facts.encoded for entry in clips}
    again = {name: kinds for name, kinds in encoded.items() if kinds}
    return Written(kept, constants, again, list(_remarks(clips, made)))


def _remarks(clips: Sequence[NamedClip], made: Mapping[str, CleanClip]) -> Iterator[str]:
    yield from short_clips({entry.clip.name: made[entry.clip_id].facts.duration_s for entry in clips})
    silent = [entry.clip.name for entry in clips if not made[entry.clip_id].facts.sound]
    if silent:
        yield f"{counted(len(silent), 'clip')} of {len(clips)} without sound, such as {silent[0]}"


def _make_clips(
    clips: Sequence[NamedClip], staging: StagingFolder, height: int | None, workers: int, progress: Progress | None
) -> tuple[dict[str, CleanClip], int]:
    """Make all clips; return them by opaque name, and the number that an interrupted run had finished."""
    plan = [
        f"canonical {FORM_VERSION}",
        str(height),
        *sorted(f"{entry.file},{entry.clip.location},{entry.clip.location.size}" for entry in clips),
    ]
    staging.begin(hashlib.sha256("\n".join(plan).encode("utf-8", "backslashreplace")).hexdigest())
    problems = Problems()
    workshop = Workshop(staging, height, problems, progress)
    if height is None:
        staging.check_space(sum(entry.clip.location.size for entry in clips if entry.clip_id not in workshop.finished))
    workshop.make(clips, workers)
    _check_twins(clips, workshop.finished, problems)
    problems.stop("The clips", f"Nothing was written to {staging.out}; finished clips are kept in {staging.folder}.")
    return workshop.finished, workshop.kept


def _check_twins(clips: Sequence[NamedClip], made: Mapping[str, CleanClip], problems: Problems) -> None:
    """Report identical files in different parts, whose labels could be looked up."""
    seen: dict[str, NamedClip] = {}
    for entry in clips:
        if entry.clip_id in made:
            first = seen.setdefault(made[entry.clip_id].sha256, entry)
            if first.part is not entry.part:
                twins = f"{first.clip.name} ({first.part.name}) and {entry.clip.name} ({entry.part.name})"
                problems.add("identical clips in two parts", twins, fix="Remove one of them from the set.")


def _write_input(
    dataset: LabelledSet,
    phase: PhaseValues,
    clips: Sequence[NamedClip],
    folder: Path,
    options: SetOptions,
    made: Mapping[str, CleanClip],
) -> None:
    rows = [(entry.clip_id, f"clips/{entry.clip_id}.mp4", made[entry.clip_id].sha256) for entry in clips]
    write_table(folder / "clips.csv", ("clip_id", "file", "sha256"), rows)
    files = {}
    if options.old_targets is not None:
        files["aliases"] = ALIASES
        write_table(
            folder / ALIASES,
            ("clip_id", "name"),
            [(entry.clip_id, entry.clip.name) for entry in clips],
            for_programs=True,
        )
    settings = input_settings(
        dataset.challenge, phase, time_limit_s=options.time_limit_s, files=files, old_targets=options.old_targets
    )
    (folder / "task.yaml").write_text(settings, encoding="utf-8")


def _write_reference(
    dataset: LabelledSet,
    phase: PhaseValues,
    clips: Sequence[NamedClip],
    folder: Path,
    options: SetOptions,
    constants: Mapping[str, float],
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    _write_labels(dataset, clips, folder)
    files, attributes = {}, dataset.attributes
    if attributes:
        files["groups"] = "groups.csv"
        rows = [(entry.clip_id, *(entry.clip.groups.get(name, UNKNOWN) for name in attributes)) for entry in clips]
        write_table(folder / "groups.csv", ("clip_id", *attributes), rows, for_programs=True)
    noise = dataset.ratings.noise if dataset.ratings else {}
    settings = reference_settings(
        dataset.challenge, phase, constants, files=files, rank_by=options.rank_by, pictures=False, noise=noise
    )
    (folder / "task.yaml").write_text(settings, encoding="utf-8")


def _write_labels(dataset: LabelledSet, clips: Sequence[NamedClip], folder: Path) -> None:
    header = ("clip_id", "source_id", *(target.name for target in dataset.challenge.targets))
    rows = [(entry.clip_id, entry.source_id, *(f"{label:.9g}" for label in entry.clip.labels)) for entry in clips]
    write_table(folder / "labels.csv", header, rows)


def _write_private(clips: Iterable[NamedClip], folder: Path, made: Mapping[str, CleanClip]) -> None:
    rows = []
    for entry in clips:
        clip_file = made[entry.clip_id]
        facts = (
            round(clip_file.facts.duration_s, 3),
            clip_file.facts.width,
            clip_file.facts.height,
            int(clip_file.facts.sound),
        )
        origin = (entry.clip.name, entry.clip.source)
        rows.append(
            (
                entry.clip_id,
                entry.source_id,
                entry.part.name,
                entry.file,
                clip_file.sha256,
                clip_file.size,
                *facts,
                *origin,
            )
        )
    header = ("clip_id", "source_id", "part", "file", "sha256", "bytes", "duration_s", "width", "height", "sound")
    write_table(folder / "clips.csv", (*header, "name", "source"), rows, for_programs=True)
    _write_text("private.md.j2", folder / "README.md")


def _write_text(template: str, path: Path, **facts: object) -> None:
    path.write_text(templates_in(TEMPLATES).get_template(template).render(facts), encoding="utf-8")


def _write_sums(folder: Path, known: Mapping[str, str]) -> None:
    """Write the hash of every file that the organiser gives away, in the format of `sha256sum --check`."""
    lines = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        if not name.startswith("private/"):
            digest = known.get(name) or hashlib.sha256(path.read_bytes()).hexdigest()
            lines.append(f"{digest}  {name}\n")
    (folder / SUMS).write_text("".join(lines), encoding="utf-8")


def replace_listed(folder: Path, path: Path, content: bytes) -> None:
    """Replace a file of a data set atomically, and its hash if the data set lists hashes."""
    with replaced(path) as unfinished:
        unfinished.write_bytes(content)
    sums, name = folder / SUMS, path.relative_to(folder).as_posix()
    if sums.is_file() and not name.startswith("private/"):
        lines = (line.partition("  ") for line in sums.read_text("utf-8").splitlines())
        listed = {of: digest for digest, _, of in lines} | {name: hashlib.sha256(content).hexdigest()}
        write_text(sums, "".join(f"{digest}  {of}\n" for of, digest in sorted(listed.items())))
