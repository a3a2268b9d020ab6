"""Add observations to the reference data of an organiser's folder, or of a bundle made from it."""

import csv
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from bundle_tools.console import Progress
from bundle_tools.errors import BundleError
from bundle_tools.own_clips.problems import Problems
from bundle_tools.own_clips.sources.mm_ocean import LICENCE, SOURCE, Point, read_annotations, within
from bundle_tools.own_clips.writing.data import SUMS
from bundle_tools.phase_data.tables import by_clip
from bundle_tools.whole import replaced

FILE = "observations.json"


@dataclass(frozen=True)
class Annotated:
    """The observations added to one phase."""

    phase: str
    """Name of the phase."""
    clips: int
    """Number of clips."""
    points: Mapping[str, Sequence[Point]]
    """Marked evidence, by opaque name of the clip."""


def annotate(folder: Path, names: Path, source: Path, progress: Progress | None = None) -> list[Annotated]:
    """Write ``observations.json`` for every phase and name it in its settings.

    Parameters
    ----------
    folder
        Holds ``reference_data/<phase>/``.
    names
        ``private/clips.csv`` of the organiser's folder, which maps true names to opaque ones.
    source
        MM-OCEAN's annotations.
    progress
        Progress callback, called per file read.

    Raises
    ------
    BundleError
        With everything to correct; nothing is written then.
    """
    problems = Problems()
    phases = sorted(path.parent for path in folder.glob("reference_data/*/task.yaml"))
    if not phases:
        raise BundleError(f"--out {folder}: expected reference_data/<phase>/task.yaml in it; found none.")
    known = _names(names)
    if not source.exists():
        raise BundleError(
            f"--source {source}: expected MM-OCEAN's data/test, a folder or archive of it; found nothing."
        )
    points = read_annotations(source, problems, progress)
    if not problems and not points.keys() & {row["name"] for row in known}:
        fix = f"Is {names} the right file?"
        problems.add("annotations of clips that are not in this set", str(source), fix=fix)
    problems.stop(str(source))
    done = []
    for phase in phases:
        own = [row for row in known if row["part"] == phase.name]
        found = {
            row["clip_id"]: within(points[row["name"]], float(row["duration_s"]))
            for row in own
            if row["name"] in points
        }
        _write(folder, phase, found)
        done.append(Annotated(phase.name, len(own), found))
    return done


def _names(path: Path) -> list[dict[str, str]]:
    """Read the table of true names."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            known = [row for row in csv.DictReader(file) if row["name"] and row["part"] and float(row["duration_s"])]
    except (OSError, KeyError, ValueError, TypeError):
        known = []
    if not known:
        fix = "Name private/clips.csv, which `bundle data first-impressions` wrote, with --names."
        raise BundleError(f"{path}: expected the table of true names; found none. {fix}")
    return known


def _write(folder: Path, phase: Path, points: Mapping[str, Sequence[Point]]) -> None:
    head = {"format_version": 1, "source": SOURCE, "licence": LICENCE}
    entries = {clip: [vars(point) for point in of] for clip, of in sorted(points.items())}
    _replace(folder, phase / FILE, by_clip(head, entries))
    settings = (phase / "task.yaml").read_text("utf-8")
    if "observations" not in yaml.safe_load(settings):
        _replace(folder, phase / "task.yaml", f"{settings.rstrip()}\nobservations: {FILE}\n")


def _replace(folder: Path, path: Path, text: str) -> None:
    """Replace a file atomically, and its hash if the folder lists hashes."""
    with replaced(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
    sums = folder / SUMS
    if sums.exists():
        lines = (line.partition("  ") for line in sums.read_text("utf-8").splitlines())
        listed = {name: digest for digest, _, name in lines}
        listed[path.relative_to(folder).as_posix()] = hashlib.sha256(text.encode()).hexdigest()
        sums.write_text("".join(f"{digest}  {name}\n" for name, digest in sorted(listed.items())), encoding="utf-8")


def summary(done: Sequence[Annotated]) -> Iterator[str]:
    """Yield the lines printed at the end."""
    for one in done:
        points, observed = sum(map(len, one.points.values())), sum(map(bool, one.points.values()))
        yield f"{one.phase}: {points} observations in {observed} of {one.clips} clips."
    yield f"From {SOURCE}, {LICENCE}: credit it with every result, no commercial use, share alike."
    yield "Rationales for neuroticism are left out: they read high as nervous, but it means calm."
