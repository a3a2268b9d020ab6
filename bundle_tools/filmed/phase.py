"""The filmed phases of a bundle: their clips as jobs, and what is written of the results."""

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bundle_tools.atomic import write_text
from bundle_tools.challenge.reading.tables import LABELS, SETTINGS, read_by_clip, read_clips, read_labels, read_settings
from bundle_tools.challenge.rules.detectability import is_filmed
from bundle_tools.codabench.rules.dataset import DataFiles
from bundle_tools.errors import BundleError
from bundle_tools.filmed.job import Job, key_of
from bundle_tools.filmed.versions import OTHER, SHAM
from bundle_tools.phase_data.files import by_clip, enter
from bundle_tools.synthetic.person import opaque_id, stream

EXCHANGES, FOLDER = "exchanges.json", "exchanges"
FORMAT_VERSION = 2
"""Of `exchanges.json`."""
WORK = Path("private", "exchanges")
"""Results of clips, by phase, in the organiser's folder."""
SEED_BITS = 128
SYNTHETIC = "synthetic"
"""Start of the `data_version` of drawn clips."""


@dataclass(frozen=True)
class FilmedPhase:
    """A phase whose clips show people."""

    name: str
    inputs: Path
    """Folder of its input data; the other one holds its reference data."""
    reference: Path
    clips: Sequence[tuple[str, str, str]]
    """Clip id, file and SHA-256."""
    people: Mapping[str, str]
    """Whom each clip shows: `source_id` by clip id."""


def read_phase(name: str, inputs: Path, reference: Path) -> FilmedPhase:
    """Read the lists of a phase.

    Raises BundleError when its clips are drawn, or have exchanges that other tools made, or people are missing.
    """
    data = DataFiles(inputs)
    if str((read_settings(data) or {}).get("data_version")).startswith(SYNTHETIC):
        raise BundleError(
            f"{inputs / SETTINGS}: its clips are drawn, and have exchanges. Use a bundle of filmed clips."
        )
    foreign = [clip for clip, entry in read_by_clip(data, "exchanges").items() if not is_filmed(entry)]
    if foreign:
        what = f"{inputs / EXCHANGES}: {len(foreign)} exchanges are not of this command, such as that of {foreign[0]}"
        raise BundleError(f"{what}. Remove the file and the key `exchanges` in {SETTINGS} to make others.")
    clips, people = read_clips(data), read_labels(DataFiles(reference)).sources
    if nobody := [clip for clip, _, _ in clips if clip not in people]:
        what = f"{reference / LABELS}: no source_id for {len(nobody)} clips, such as {nobody[0]}"
        raise BundleError(f"{what}. Run `bundle check`.")
    if lost := [file for _, file, _ in clips if not (inputs / file).is_file()]:
        raise BundleError(f"{inputs}: {len(lost)} files of the list are missing, such as {lost[0]}. Add them.")
    return FilmedPhase(name, inputs, reference, clips, people)


def seed_of(root: Path, seed: int | None) -> int:
    """Return the secret seed: the given one, that of the last call, that of the clips' names, or a random one."""
    path = root / WORK / "seed.txt"
    for known in (path, root / "private" / "seed.txt"):
        if seed is None and known.is_file():
            seed = int(known.read_text("utf-8"))
    seed = secrets.randbits(SEED_BITS) if seed is None else seed
    path.parent.mkdir(parents=True, exist_ok=True)
    path.parent.chmod(0o700)
    write_text(path, f"{seed}\n")
    return seed


def jobs_of(phase: FilmedPhase, root: Path, seed: int, models: Path) -> list[Job]:
    """Return a job for each clip."""
    work = root.absolute() / WORK
    jobs = []
    for clip, file, sha256 in phase.clips:
        first, second = (f"{FOLDER}/{opaque_id('c', seed, clip, version)}.mp4" for version in (SHAM, OTHER))
        side = int(stream(seed, clip, "neighbour").choice([-1, 1]))
        jobs.append(
            Job(
                clip_id=clip,
                phase=phase.name,
                folder=str(phase.inputs.absolute()),
                file=file,
                first=first,
                second=second,
                side=side,
                models=str(models),
                out=str(work / phase.name / f"{clip}.json"),
                key=key_of(sha256, side, (first, second)),
                alive=str(work / ".driver"),
            )
        )
    return jobs


def write_exchanges(phase: FilmedPhase, results: Sequence[Mapping[str, Any]]) -> str:
    """Write `exchanges.json` of a phase, name it in its settings, and remove files of earlier calls.

    Returns the SHA-256 of `exchanges.json`.
    """
    entries = {result["clip_id"]: result["entry"] for result in results if result["entry"] is not None}
    text = by_clip({"format_version": FORMAT_VERSION}, entries)
    write_text(phase.inputs / EXCHANGES, text)
    listed = {Path(file["file"]).name for entry in entries.values() for file in (entry["first"], entry)}
    for path in (phase.inputs / FOLDER).glob("*.mp4"):
        if path.name not in listed:
            path.unlink()
    enter(phase.inputs / SETTINGS, {"exchanges": EXCHANGES})
    return hashlib.sha256(text.encode()).hexdigest()
