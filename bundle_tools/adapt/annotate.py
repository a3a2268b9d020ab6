"""Adding observations to the reference data of an organiser's folder, or of a bundle made from it."""

import csv
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from bundle_tools.adapt.observations import LICENCE, SOURCE, Point, observations_file, read_annotations, within
from bundle_tools.adapt.problems import Problems
from bundle_tools.adapt.writer import SUMS
from bundle_tools.console import Progress
from bundle_tools.errors import BundleError

FILE = "observations.json"


@dataclass(frozen=True)
class Annotated:
    """What was added to one phase."""

    phase: str
    """Name of the phase."""
    clips: int
    """Clips of the phase."""
    observed: int
    """Clips in which somebody pointed at something."""
    points: int
    """What they pointed at, in all."""


def annotate(folder: Path, names: Path, source: Path, progress: Progress | None = None) -> list[Annotated]:
    """Write ``observations.json`` for every phase and name it in its settings.

    Parameters
    ----------
    folder
        Holds ``reference_data/<phase>/``.
    names
        ``private/clips.csv`` of the organiser's folder: which clip is which.
    source
        MM-OCEAN's annotations.
    progress
        Told of every file that is read.

    Raises
    ------
    BundleError
        With everything that has to be put right. Nothing is written then.
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
    if not problems and not points.keys() & {name for name, _, _, _ in known}:
        problems.add("annotations of other clips than those of this set", str(source), f"Is {names} the right file?")
    problems.stop(str(source))
    done = []
    for phase in phases:
        own = {
            clip_id: within(points[name], duration_s)
            for name, clip_id, part, duration_s in known
            if part == phase.name and name in points
        }
        done.append(_write(folder, phase, own, sum(part == phase.name for _, _, part, _ in known)))
    return done


def _names(path: Path) -> list[tuple[str, str, str, float]]:
    """Read true name, opaque name, part and length of every clip."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            table = csv.DictReader(file)
            known = [(row["name"], row["clip_id"], row["part"], float(row["duration_s"])) for row in table]
    except (OSError, KeyError, ValueError, TypeError):
        known = []
    if not known:
        fix = "Name private/clips.csv, which `bundle data first-impressions` wrote, with --names."
        raise BundleError(f"{path}: expected the table of true names; found none. {fix}")
    return known


def _write(folder: Path, phase: Path, points: Mapping[str, tuple[Point, ...]], clips: int) -> Annotated:
    _replace(folder, phase / FILE, observations_file(points))
    settings = (phase / "task.yaml").read_text("utf-8")
    if "observations" not in yaml.safe_load(settings):
        _replace(folder, phase / "task.yaml", f"{settings.rstrip()}\nobservations: {FILE}\n")
    observed = sum(bool(of) for of in points.values())
    return Annotated(phase.name, clips, observed, sum(map(len, points.values())))


def _replace(folder: Path, path: Path, text: str) -> None:
    """Write a file as a whole, and its hash where the folder lists hashes."""
    unfinished = path.with_name(path.name + ".part")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)
    sums = folder / SUMS
    if sums.exists():
        name = path.relative_to(folder).as_posix()
        others = [line for line in sums.read_text("utf-8").splitlines() if line.partition("  ")[2] != name]
        listed = [*others, f"{hashlib.sha256(text.encode()).hexdigest()}  {name}"]
        text_of_sums = "".join(f"{line}\n" for line in sorted(listed, key=lambda line: line.partition("  ")[2]))
        sums.write_text(text_of_sums, encoding="utf-8")


def summary(done: list[Annotated]) -> Iterator[str]:
    """Give the lines that an organiser reads at the end."""
    for one in done:
        yield f"{one.phase}: {one.points} observations in {one.observed} of {one.clips} clips."
    yield f"From {SOURCE}, {LICENCE}: name it where results are shown, use it for no money, share alike."
    yield "Rationales for neuroticism are left out: they argue as if high meant nervous, and it means calm."
