"""An organiser's folder from a labelled set: both sides of every phase, public data, and what stays private.

Everything is made in a folder beside the target, which takes its name when it is whole: there is either all of it or
nothing. What an interrupted run finished is kept there.
"""

import csv
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bundle_tools.adapt.dataset import Clip, Dataset, Part
from bundle_tools.adapt.media import Treatment
from bundle_tools.adapt.names import Names, opaque_names
from bundle_tools.adapt.prepare import Job, Journal, Prepared, prepare
from bundle_tools.adapt.problems import Problems
from bundle_tools.adapt.settings import ALIASES, Rules, input_settings, reference_settings
from bundle_tools.adapt.stage import Stage
from bundle_tools.console import Progress

SUMS = "SHA256SUMS"
UNKNOWN = "unknown"
"""The group of a clip where an attribute is not known."""
_PRIVATE = """\
# Private: stays with the organiser

| file | what it holds |
|---|---|
| `clips.csv` | what every clip is: its opaque name, its part, file and hash, and its true name and source |
| `seed.txt` | the secret number that names and parts were drawn from; with it they can be made again |

Whoever has these files can tell who is who, and look up labels that are known elsewhere. Nothing here goes into the
bundle.
"""


@dataclass(frozen=True)
class Written:
    """What became of a set."""

    version: str
    """The `data_version` of all its parts."""
    kept: int
    """Clips that an interrupted run had finished."""
    constants: Mapping[str, float]
    """Mean of every target over the training clips."""


def write(
    dataset: Dataset,
    parts: Sequence[Part],
    stage: Stage,
    *,
    rules: Rules,
    treatment: Treatment,
    notes: str,
    workers: int,
    progress: Progress | None = None,
    beside: Callable[[Path, Mapping[str, float]], None] | None = None,
) -> Written:
    """Write a set as an organiser's folder.

    Parameters
    ----------
    dataset
        The labelled set.
    parts
        What each phase and the public data hold. The constants are the means of the public clips, or of all clips
        where nothing is public.
    stage
        Where it is made.
    rules
        What the organiser decides.
    treatment
        What is done to every clip.
    notes
        What participants must know of the clips, in Markdown: for the README of the public data.
    workers, progress
        As in `prepare`.
    beside
        Called with the folder and the constants when all data are in it: adds what else belongs there.

    Raises
    ------
    BundleError
        When clips cannot be made; every one of them is named, and the finished ones are kept in the stage.
    """
    names = opaque_names(dataset, stage.seed)
    jobs = [
        Job(
            names.clips[clip.name], clip.place, stage.folder / _folder(part) / "clips" / f"{names.clips[clip.name]}.mp4"
        )
        for part in parts
        for clip in part.clips
    ]
    stage.begin(_plan(jobs, stage.folder, treatment))
    journal, problems = Journal(stage.journal), Problems()
    if treatment.height is None:
        stage.check_space(sum(job.place.size for job in jobs if job.clip_id not in journal.finished))
    for part in parts:
        (stage.folder / _folder(part) / "clips").mkdir(parents=True, exist_ok=True)
    kept = prepare(jobs, treatment, journal, problems=problems, workers=workers, progress=progress)
    _check_twins(parts, names, journal.finished, problems)
    problems.stop("The clips", f"Nothing was written to {stage.out}; finished clips are kept in {stage.folder}.")
    version = _version(dataset, parts, names, journal.finished)
    training = [clip for part in parts if not part.phase for clip in part.clips] or list(dataset.clips)
    means = np.mean([clip.labels for clip in training], axis=0)
    constants = {one.name: round(float(mean), 4) for one, mean in zip(dataset.targets, means, strict=True)}
    for part in parts:
        if part.phase:
            _write_phase(dataset, part, stage.folder, names, journal.finished, rules, version, constants)
        else:
            _write_public(dataset, part, stage.folder, names, notes)
    _write_private(parts, stage, names, journal.finished)
    if beside is not None:
        beside(stage.folder, constants)
    _write_sums(stage.folder, journal.finished)
    stage.finish()
    return Written(version, kept, constants)


def _check_twins(parts: Sequence[Part], names: Names, made: Mapping[str, Prepared], problems: Problems) -> None:
    """Find clips of different parts that are the same file under two names: their labels could be looked up."""
    seen: dict[str, tuple[str, str]] = {}
    for part in parts:
        for clip in part.clips:
            one = made.get(names.clips[clip.name])
            first, where = seen.setdefault(one.sha256, (clip.name, part.name)) if one else (clip.name, part.name)
            if where != part.name:
                twins = f"{first} ({where}) and {clip.name} ({part.name})"
                problems.add("clips of two parts that are the same", twins, "Take one of them out of the set.")


def _folder(part: Part) -> str:
    return f"input_data/{part.name}" if part.phase else "public_data"


def _plan(jobs: Iterable[Job], folder: Path, treatment: Treatment) -> str:
    lines = sorted(f"{job.target.relative_to(folder)},{job.place},{job.place.size}" for job in jobs)
    return hashlib.sha256("\n".join((str(treatment), *lines)).encode("utf-8", "backslashreplace")).hexdigest()


def _version(dataset: Dataset, parts: Sequence[Part], names: Names, made: Mapping[str, Prepared]) -> str:
    lines = sorted(
        f"{part.name},{names.clips[clip.name]},{made[names.clips[clip.name]].sha256},{clip.labels}"
        for part in parts
        for clip in part.clips
    )
    return f"{dataset.name}-{hashlib.sha256(chr(10).join(lines).encode()).hexdigest()[:8]}"


def _sorted(part: Part, names: Names) -> list[tuple[str, Clip]]:
    """Give a part's clips in the order of their opaque names, which tells nothing."""
    return sorted((names.clips[clip.name], clip) for clip in part.clips)


def _write_phase(
    dataset: Dataset,
    part: Part,
    folder: Path,
    names: Names,
    made: Mapping[str, Prepared],
    rules: Rules,
    version: str,
    constants: Mapping[str, float],
) -> None:
    given, wanted = folder / _folder(part), folder / "reference_data" / part.name
    wanted.mkdir(parents=True, exist_ok=True)
    clips = _sorted(part, names)
    rows = [(clip_id, f"clips/{clip_id}.mp4", made[clip_id].sha256) for clip_id, _ in clips]
    write_table(given / "clips.csv", ("clip_id", "file", "sha256"), rows)
    _write_transcripts(given, clips)
    if rules.results is not None:
        write_table(given / ALIASES, ("clip_id", "name"), [(clip_id, clip.name) for clip_id, clip in clips])
    (given / "task.yaml").write_text(input_settings(dataset, part, rules, version), encoding="utf-8")
    _write_labels(dataset, clips, wanted, names)
    files = {"groups": "groups.csv"} if dataset.attributes else {}
    if dataset.attributes:
        groups = [
            (clip_id, *(clip.groups.get(name, UNKNOWN) for name in dataset.attributes)) for clip_id, clip in clips
        ]
        write_table(wanted / files["groups"], ("clip_id", *dataset.attributes), groups)
    settings = reference_settings(dataset, part, rules, version, constants, files)
    (wanted / "task.yaml").write_text(settings, encoding="utf-8")


def _write_public(dataset: Dataset, part: Part, folder: Path, names: Names, notes: str) -> None:
    public, clips = folder / _folder(part), _sorted(part, names)
    _write_transcripts(public, clips)
    _write_labels(dataset, clips, public, names)
    targets = "\n".join(
        f"| `{one.name}` | {one.title} | {one.minimum:g} to {one.maximum:g} |" for one in dataset.targets
    )
    (public / "README.md").write_text(
        f"""\
# {len(clips)} clips with labels

| file | what it holds |
|---|---|
| `clips/<clip_id>.mp4` | the clips, without any metadata |
| `labels.csv` | `clip_id,source_id` and one column a target; one `source_id` is one source video or person |
| `transcripts.json` | `{{clip_id: text}}`: what is said |

| target | title | range |
|---|---|---|
{targets}

Keep clips of one `source_id` on the same side of every split: they are alike, and so are their labels.

{notes}""",
        encoding="utf-8",
    )


def _write_private(parts: Sequence[Part], stage: Stage, names: Names, made: Mapping[str, Prepared]) -> None:
    rows = []
    for part in parts:
        for clip_id, clip in _sorted(part, names):
            one = made[clip_id]
            file = f"{_folder(part)}/clips/{clip_id}.mp4"
            size = (one.size, round(one.facts.duration_s, 3), one.facts.width, one.facts.height, int(one.facts.sound))
            rows.append(
                (clip_id, names.sources[clip.source], part.name, file, one.sha256, *size, clip.name, clip.source)
            )
    header = ("clip_id", "source_id", "part", "file", "sha256", "bytes", "duration_s", "width", "height", "sound")
    write_table(stage.private / "clips.csv", (*header, "name", "source"), rows)
    (stage.private / "README.md").write_text(_PRIVATE, encoding="utf-8")


def _write_sums(folder: Path, made: Mapping[str, Prepared]) -> None:
    """Write the hash of every file that leaves the organiser, as `sha256sum --check` reads it."""
    lines = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        if name.startswith("private/"):
            continue
        known = made.get(path.stem) if path.suffix == ".mp4" else None
        digest = known.sha256 if known else hashlib.sha256(path.read_bytes()).hexdigest()
        lines.append(f"{digest}  {name}\n")
    (folder / SUMS).write_text("".join(lines), encoding="utf-8")


def _write_transcripts(folder: Path, clips: Sequence[tuple[str, Clip]]) -> None:
    text = json.dumps({clip_id: clip.transcript for clip_id, clip in clips}, indent=1, ensure_ascii=False)
    (folder / "transcripts.json").write_text(text + "\n", encoding="utf-8")


def _write_labels(dataset: Dataset, clips: Sequence[tuple[str, Clip]], folder: Path, names: Names) -> None:
    header = ("clip_id", "source_id", *(target.name for target in dataset.targets))
    rows = [
        (clip_id, names.sources[clip.source], *(f"{label:.9g}" for label in clip.labels)) for clip_id, clip in clips
    ]
    write_table(folder / "labels.csv", header, rows)


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a CSV file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
