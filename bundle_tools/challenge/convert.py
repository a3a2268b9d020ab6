"""Write this challenge's records from the files of 2017 (docs/results_2017.md). Pickles are read, never unpickled."""

import csv
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from bundle_tools.errors import BundleError
from bundle_tools.programs import use_own_program
from bundle_tools.tables import write_table

use_own_program("ingestion_program")
# The readers of the ingestion program run no code from a file.
from ingest.data import CLIP_ID  # noqa: E402
from ingest.media.video import encode_jpeg  # noqa: E402
from ingest.results import find_results  # noqa: E402
from model_process.results import SubmittedResults, Unreadable  # noqa: E402

HEADER = ["clip_id", "name"]
SUFFIX = ".mp4"


@dataclass(frozen=True)
class Names:
    """Our names by those of 2017."""

    clips: dict[str, str]
    """Clip ids by older name; other clips keep their names, without `.mp4`."""
    targets: dict[str, str]
    """Targets by older name; others keep their names."""

    def clip(self, older: str) -> str:
        """Return a clip's id here."""
        return self.clips.get(older, older.removesuffix(SUFFIX))

    def target(self, older: str) -> str:
        """Return a target's name here."""
        return self.targets.get(older, older)


def read_names(aliases: Path | None, targets: list[str]) -> Names:
    """Read the names of clips from a table `clip_id,name`, those of targets from `older=own`.

    Raises BundleError when a table or a pair is malformed, or a name appears twice.
    """
    clips: dict[str, str] = {}
    if aliases is not None:
        try:
            with aliases.open(encoding="utf-8-sig", newline="") as file:
                rows = [row for row in csv.reader(file, strict=True) if row]
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise BundleError(f"--aliases {aliases}: expected a table in UTF-8; found {error}.") from None
        if rows[:1] != [HEADER] or any(len(row) != len(HEADER) for row in rows):
            raise BundleError(f"--aliases {aliases}: expected {','.join(HEADER)} and two cells in each row.")
        clips = {name: clip_id for clip_id, name in rows[1:]}
        if len(clips) < len(rows) - 1 or len(set(clips.values())) < len(clips):
            raise BundleError(f"--aliases {aliases}: expected every clip and every name once.")
    pairs = [pair.split("=") for pair in targets]
    if any(len(pair) != 2 or not all(pair) for pair in pairs):
        raise BundleError("--target: expected OLDER=OWN, such as neuroticism=emotional_stability.")
    named = [(f"older name {old}", f"own name {own}") for old, own in pairs]
    doubled = sorted({name for side in zip(*named, strict=True) for name in side if side.count(name) > 1})
    if doubled:
        raise BundleError(f"--target: expected every name once; found several times: {', '.join(doubled)}.")
    return Names(clips, dict(pairs))


def write_records(
    submission: Path, out: Path, names: Names, progress: Callable[[int, int], None] | None = None
) -> list[str]:
    """Write `predictions.csv`, `explanations.jsonl` and `images/`; return the older names of the clips.

    `submission`: holds `prediction.pkl` or `predictions.pkl`, and perhaps `description.pkl` and `metadata.txt`.
    Raises BundleError when a file cannot be read, a clip lacks a target, or names do not match.
    """
    choices = [files for files in find_results(path.name for path in submission.iterdir()) if files.form == "2017"]
    if len(choices) != 1:
        raise BundleError(f"{submission}: expected prediction.pkl or predictions.pkl, and only one of them.")
    try:
        results = SubmittedResults(submission, **vars(choices[0]), clips={}, targets={})
        clips = sorted(results.names)
        _write_predictions(out / "predictions.csv", results, clips, names)
        (out / "images").mkdir()
        with (out / "explanations.jsonl").open("w", encoding="utf-8") as file:
            for done, clip in enumerate(clips, 1):
                explanation = results.explain(clip)
                image = f"images/{done:06d}.jpg"
                record = _record(names.clip(clip), explanation, out / image)
                file.write(json.dumps({**record, "image": record["image"] and image}, ensure_ascii=False) + "\n")
                if progress:
                    progress(done, len(clips))
    except Unreadable as error:
        raise BundleError(f"{submission}: {error}.") from None
    return clips


def _write_predictions(path: Path, results: SubmittedResults, clips: list[str], names: Names) -> None:
    rows: list[dict[str, Any]] = []
    targets: dict[str, None] = {}
    wrong: list[str] = []
    for clip in clips:
        prediction = results.predict(clip) or {}
        targets |= dict.fromkeys(prediction)
        row: dict[str, Any] = {"clip_id": names.clip(clip)}
        for target, value in prediction.items():
            try:
                row[target] = repr(_finite(value))
            except ValueError:
                row[target] = None
                wrong.append(f"{clip}, {target}: expected a finite number; found {value!r:.40}.")
        rows.append(row)
    wrong += [
        f"--target: expected one of {', '.join(targets)}; found {unknown}."
        for unknown in sorted(names.targets.keys() - targets.keys())
    ]
    wrong += _shared("targets", {target: names.target(target) for target in targets})
    wrong += _shared("clips", {clip: names.clip(clip) for clip in clips})
    if odd := [clip for clip in clips if not CLIP_ID.fullmatch(names.clip(clip))]:
        misnamed = f"{len(odd)} clips have a name that is not a clip id ({CLIP_ID.pattern}), such as {odd[0]!a:.60}."
        wrong.append(f"{misnamed} Map them with --aliases.")
    lacking = sorted(row["clip_id"] for row in rows if len(row) <= len(targets))
    if lacking:
        wrong.append(f"{len(lacking)} clips lack a target, such as {lacking[0]}. Remove them from the files.")
    if wrong:
        raise BundleError("\n".join(wrong))
    lines = [(row["clip_id"], *(row[target] for target in targets)) for row in rows]
    write_table(path, ("clip_id", *map(names.target, targets)), lines)


def _shared(what: str, renamed: Mapping[str, str]) -> Iterator[str]:
    """Find older names that would become one, so that something would silently be lost."""
    sources: dict[str, list[str]] = {}
    for older, own in renamed.items():
        sources.setdefault(own, []).append(older)
    for own, equal in sources.items():
        if len(equal) > 1:
            yield f"{' and '.join(equal)}: these {what} would share the name {own}. Give them different names."


def _finite(value: object) -> float:
    """Return a number, or the number in a text.

    Raises ValueError when it is neither, or not finite.
    """
    if isinstance(value, bool) or not isinstance(value, str | Real):
        raise ValueError("no number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError("no finite number")
    return number


def _record(clip_id: str, explanation: Any, path: Path) -> dict[str, Any]:  # noqa: ANN401 - as a stranger wrote it
    image, text = explanation.get("image"), explanation.get("text")
    drawn = isinstance(image, np.ndarray) and image.dtype == np.uint8 and image.ndim == 3 and image.shape[2] == 3
    if drawn:
        path.write_bytes(encode_jpeg(image))
    return {
        "clip_id": clip_id,
        "text": text if isinstance(text, str) else None,
        "image": drawn or None,
        "evidence": None,
    }
