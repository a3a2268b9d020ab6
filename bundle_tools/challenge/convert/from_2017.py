"""Write this challenge's records from the files of 2017. Pickles are read, never unpickled."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bundle_tools.challenge.convert.names import Names, misfits
from bundle_tools.challenge.convert.values import finite
from bundle_tools.errors import BundleError
from ingest.clips.table import CLIP_ID
from ingest.media.jpeg import encode_jpeg
from ingest.results.files import find_results
from model_process.results import SubmittedResults, Unreadable

SUFFIX = ".mp4"


def write_records(
    submission: Path, out: Path, names: Names, progress: Callable[[int, int], None] | None = None
) -> list[str]:
    """Write `predictions.csv`, `explanations.jsonl` and `images/`; return the older names of the clips.

    `submission`: holds `prediction.pkl` or `predictions.pkl`, and perhaps `description.pkl` and `metadata.txt`.
    `names`: older names -> names of clips and targets; others keep their names, clips without `.mp4`.
    Raises BundleError when a file cannot be read, a clip lacks a target, or names do not match.
    """
    found = [files for files in find_results(path.name for path in submission.iterdir()) if files.form == "2017"]
    if len(found) != 1:
        raise BundleError(f"{submission}: expected prediction.pkl or predictions.pkl, and only one of them.")
    (files,) = found
    try:
        results = SubmittedResults(submission, **vars(files), clips={}, targets={})
        clips = sorted(results.names)
        _write_predictions(out / "predictions.csv", results, clips, names)
        (out / "images").mkdir()
        with (out / "explanations.jsonl").open("w", encoding="utf-8") as file:
            for done, clip in enumerate(clips, 1):
                explanation = results.explain(clip)
                image = f"images/{done:06d}.jpg"
                record = _record(_own(clip, names), explanation, out / image)
                file.write(json.dumps({**record, "image": record["image"] and image}, ensure_ascii=False) + "\n")
                if progress:
                    progress(done, len(clips))
    except Unreadable as error:
        raise BundleError(f"{submission}: {error}.") from None
    return clips


def _own(clip: str, names: Names) -> str:
    return names.clips.get(clip, clip.removesuffix(SUFFIX))


def _write_predictions(path: Path, results: SubmittedResults, clips: list[str], names: Names) -> None:
    rows: list[dict[str, Any]] = []
    targets: dict[str, None] = {}
    wrong: list[str] = []
    for clip in clips:
        prediction = results.predict(clip) or {}
        targets |= dict.fromkeys(prediction)
        row: dict[str, Any] = {"clip_id": _own(clip, names)}
        for target, value in prediction.items():
            try:
                row[target] = repr(finite(value))
            except ValueError:
                row[target] = None
                wrong.append(f"{clip}, {target}: expected a finite number; found {value!r:.40}.")
        rows.append(row)
    wrong += misfits(names, targets, {clip: _own(clip, names) for clip in clips})
    if odd := [clip for clip in clips if not CLIP_ID.fullmatch(_own(clip, names))]:
        found = f"{len(odd)} clips have a name that is not a clip id ({CLIP_ID.pattern}), such as {odd[0]!a:.60}."
        wrong.append(f"{found} Map them with --aliases.")
    lacking = sorted(row["clip_id"] for row in rows if len(row) <= len(targets))
    if lacking:
        wrong.append(f"{len(lacking)} clips lack a target, such as {lacking[0]}. Remove them from the files.")
    if wrong:
        raise BundleError("\n".join(wrong))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["clip_id", *(names.targets.get(target, target) for target in targets)])
        writer.writerows([row["clip_id"], *(row[target] for target in targets)] for row in rows)


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
