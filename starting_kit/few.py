"""A phase cut down to its first clips: for a quick look whether a submission works at all."""

import csv
import json
import shutil
from collections.abc import Container
from pathlib import Path
from typing import Any

import yaml

# Files about the whole set that the scores do not need.
_ABOUT_ALL = ("groups", "landmarks", "jury", "observations")


def keep_clips(given: Path, wanted: Path, count: int, folder: Path) -> tuple[Path, Path]:
    """Write copies of a phase's input and reference data that hold its first `count` clips.

    Parameters
    ----------
    given, wanted
        Input data and reference data.
    count
        How many clips, >= 1.
    folder
        Where both are written.

    Returns
    -------
    tuple
        Input data and reference data.
    """
    inputs, reference = folder / "input_data", folder / "reference_data"
    for place in (inputs, reference):
        place.mkdir(parents=True)
    shutil.copy(given / "task.yaml", inputs)
    clips = _rows(given / "clips.csv")[:count]
    kept = {row["clip_id"] for row in clips}
    copies = [row for row in _rows(given / "copies.csv") if row["clip_id"] in kept]
    _write_rows(inputs / "clips.csv", clips)
    _write_rows(inputs / "copies.csv", copies)
    settings = yaml.safe_load((given / "task.yaml").read_text("utf-8"))
    exchanges: dict[str, Any] = {}
    if "exchanges" in settings:
        listed = json.loads((given / settings["exchanges"]).read_text("utf-8"))
        exchanges = _only(listed["clips"], kept)
        (inputs / settings["exchanges"]).write_text(json.dumps({**listed, "clips": exchanges}), "utf-8")
    for row in (*clips, *copies, *exchanges.values()):
        (inputs / row["file"]).parent.mkdir(exist_ok=True)
        shutil.copy(given / row["file"], inputs / row["file"])
    spoken = json.loads((given / "transcripts.json").read_text("utf-8"))
    names = kept | {row["copy_id"] for row in copies}
    (inputs / "transcripts.json").write_text(json.dumps(_only(spoken, names)), "utf-8")

    settings = yaml.safe_load((wanted / "task.yaml").read_text("utf-8"))
    for key in _ABOUT_ALL:
        settings.pop(key, None)
    settings["report"].pop("key_frames", None)
    (reference / "task.yaml").write_text(yaml.safe_dump(settings, sort_keys=False), "utf-8")
    _write_rows(reference / "labels.csv", [row for row in _rows(wanted / "labels.csv") if row["clip_id"] in kept])
    if "causes" in settings:
        causes = json.loads((wanted / settings["causes"]).read_text("utf-8"))
        causes["clips"] = _only(causes["clips"], kept)
        (reference / settings["causes"]).write_text(json.dumps(causes), "utf-8")
    return inputs, reference


def _only(content: dict[str, Any], names: Container[str]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if name in names}


def _rows(path: Path) -> list[dict[str, str]]:
    if not path.is_file():
        return []
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def _write_rows(path: Path, rows: list[dict[str, str]]) -> None:
    if not rows:
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
