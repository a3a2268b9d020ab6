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
from bundle_tools.own_clips.clips import CleanClip, Named, Stage, Workshop, folder_of, named
from bundle_tools.own_clips.dataset import Dataset, Part
from bundle_tools.own_clips.files import Problems
from bundle_tools.phase_data.files import templates_in, write_transcripts
from bundle_tools.phase_data.settings import TIME_LIMIT_S, Phase, input_settings, reference_settings
from bundle_tools.tables import write_table

SUMS = "SHA256SUMS"
ALIASES = "aliases.csv"
"""Older names of clips, for phases that accept results of older challenges."""
UNKNOWN = "unknown"
"""The group of a clip whose attribute is unknown."""
TEMPLATES = Path(__file__).with_name("templates")


@dataclass(frozen=True)
class Options:
    """An organiser's choices other than clips, labels and challenge."""

    height: int | None = None
    """Height in pixels at which to re-encode all clips; None keeps pictures and sound as they are."""
    time_limit_s: int = TIME_LIMIT_S
    """Time limit of a phase, seconds: the same as `execution_time_limit` in competition.yaml."""
    rank_by: str = "prediction"
    """Ranking of the leaderboard: prediction or explanation. Filmed clips have no exchange."""
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
    dataset: Dataset,
    parts: Sequence[Part],
    stage: Stage,
    options: Options,
    *,
    notes: str,
    workers: int,
    progress: Progress | None = None,
    beside: Callable[[Path, Mapping[str, float]], None] | None = None,
) -> Written:
    """Write a set as an organiser's folder.

    `parts`: the clips of each phase and of the public data. The constants are the means of the public clips, or of all
    clips if none are public. `notes`: what participants must know about the clips, in Markdown, for the README of the
    public data. `workers`: clips made in parallel. `beside`: called with the folder and the constants once all data are
    written, to add anything else.

    Raises BundleError when clips cannot be made; names all of them. The finished ones are kept in the stage.
    """
    clips = named(dataset.name, parts, stage.seed)
    made, kept = _make_clips(clips, stage, options.height, workers, progress)
    challenge = dataset.challenge
    training = [clip for part in parts if not part.is_phase for clip in part.clips] or dataset.clips
    means = np.mean([clip.labels for clip in training], axis=0)
    constants = {one.name: round(float(mean), 4) for one, mean in zip(challenge.targets, means, strict=True)}
    lines = sorted(f"{one.part.name},{one.clip_id},{made[one.clip_id].sha256},{one.clip.labels}" for one in clips)
    version = f"{dataset.name}-{hashlib.sha256(chr(10).join(lines).encode()).hexdigest()[:8]}"
    for part in parts:
        own = [one for one in clips if one.part is part]
        given = stage.folder / folder_of(part)
        write_transcripts(given, {one.clip_id: one.clip.transcript for one in own})
        if part.is_phase:
            phase = Phase(part.name, version, part.is_open)
            _write_input(dataset, phase, own, given, options, made)
            _write_reference(dataset, phase, own, stage.folder / "reference_data" / part.name, options, constants)
        else:
            _write_labels(dataset, own, given)
            facts = {"clips": own, "targets": challenge.targets, "ratings": dataset.ratings, "notes": notes}
            _write_text("public.md.j2", given / "README.md", **facts)
    _write_private(clips, stage.private, made)
    if beside is not None:
        beside(stage.folder, constants)
    _write_sums(stage.folder, {one.file: made[one.clip_id].sha256 for one in clips})
    stage.finish()
    encoded = {one.clip.name: made[one.clip_id].facts.encoded for one in clips}
    again = {name: kinds for name, kinds in encoded.items() if kinds}
    return Written(kept, constants, again, list(_remarks(clips, made)))


def _remarks(clips: Sequence[Named], made: Mapping[str, CleanClip]) -> Iterator[str]:
    yield from short_clips({one.clip.name: made[one.clip_id].facts.duration_s for one in clips})
    silent = [one.clip.name for one in clips if not made[one.clip_id].facts.sound]
    if silent:
        yield f"{counted(len(silent), 'clip')} of {len(clips)} without sound, such as {silent[0]}"


def _make_clips(
    clips: Sequence[Named], stage: Stage, height: int | None, workers: int, progress: Progress | None
) -> tuple[dict[str, CleanClip], int]:
    """Make all clips; return them by opaque name, and the number that an interrupted run had finished."""
    plan = [
        f"canonical {FORM_VERSION}",
        str(height),
        *sorted(f"{one.file},{one.clip.place},{one.clip.place.size}" for one in clips),
    ]
    stage.begin(hashlib.sha256("\n".join(plan).encode("utf-8", "backslashreplace")).hexdigest())
    problems = Problems()
    workshop = Workshop(stage, height, problems, progress)
    if height is None:
        stage.check_space(sum(one.clip.place.size for one in clips if one.clip_id not in workshop.finished))
    workshop.make(clips, workers)
    _check_twins(clips, workshop.finished, problems)
    problems.stop("The clips", f"Nothing was written to {stage.out}; finished clips are kept in {stage.folder}.")
    return workshop.finished, workshop.kept


def _check_twins(clips: Sequence[Named], made: Mapping[str, CleanClip], problems: Problems) -> None:
    """Report identical files in different parts, whose labels could be looked up."""
    seen: dict[str, Named] = {}
    for one in clips:
        if one.clip_id in made:
            first = seen.setdefault(made[one.clip_id].sha256, one)
            if first.part is not one.part:
                twins = f"{first.clip.name} ({first.part.name}) and {one.clip.name} ({one.part.name})"
                problems.add("identical clips in two parts", twins, fix="Remove one of them from the set.")


def _write_input(
    dataset: Dataset,
    phase: Phase,
    clips: Sequence[Named],
    folder: Path,
    options: Options,
    made: Mapping[str, CleanClip],
) -> None:
    rows = [(one.clip_id, f"clips/{one.clip_id}.mp4", made[one.clip_id].sha256) for one in clips]
    write_table(folder / "clips.csv", ("clip_id", "file", "sha256"), rows)
    files = {}
    if options.old_targets is not None:
        files["aliases"] = ALIASES
        write_table(
            folder / ALIASES, ("clip_id", "name"), [(one.clip_id, one.clip.name) for one in clips], for_programs=True
        )
    settings = input_settings(
        dataset.challenge, phase, time_limit_s=options.time_limit_s, files=files, old_targets=options.old_targets
    )
    (folder / "task.yaml").write_text(settings, encoding="utf-8")


def _write_reference(
    dataset: Dataset,
    phase: Phase,
    clips: Sequence[Named],
    folder: Path,
    options: Options,
    constants: Mapping[str, float],
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    _write_labels(dataset, clips, folder)
    files, attributes = {}, dataset.attributes
    if attributes:
        files["groups"] = "groups.csv"
        rows = [(one.clip_id, *(one.clip.groups.get(name, UNKNOWN) for name in attributes)) for one in clips]
        write_table(folder / "groups.csv", ("clip_id", *attributes), rows, for_programs=True)
    noise = dataset.ratings.noise if dataset.ratings else {}
    settings = reference_settings(
        dataset.challenge, phase, constants, files=files, rank_by=options.rank_by, pictures=False, noise=noise
    )
    (folder / "task.yaml").write_text(settings, encoding="utf-8")


def _write_labels(dataset: Dataset, clips: Sequence[Named], folder: Path) -> None:
    header = ("clip_id", "source_id", *(target.name for target in dataset.challenge.targets))
    rows = [(one.clip_id, one.source_id, *(f"{label:.9g}" for label in one.clip.labels)) for one in clips]
    write_table(folder / "labels.csv", header, rows)


def _write_private(clips: Iterable[Named], folder: Path, made: Mapping[str, CleanClip]) -> None:
    rows = []
    for one in clips:
        this = made[one.clip_id]
        facts = (round(this.facts.duration_s, 3), this.facts.width, this.facts.height, int(this.facts.sound))
        origin = (one.clip.name, one.clip.source)
        rows.append((one.clip_id, one.source_id, one.part.name, one.file, this.sha256, this.size, *facts, *origin))
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
