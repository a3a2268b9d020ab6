"""The tables and lists of a phase."""

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a CSV file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def write_transcripts(folder: Path, transcripts: Mapping[str, str]) -> None:
    """Write ``transcripts.json`` sorted by id, so that the order does not distinguish copies from clips."""
    text = json.dumps(dict(sorted(transcripts.items())), indent=1, ensure_ascii=False)
    (folder / "transcripts.json").write_text(text + "\n", encoding="utf-8")


def by_clip(head: Mapping[str, object], clips: Mapping[str, object]) -> str:
    """Return the text of a JSON file with one clip per line."""
    entries = [f' "{clip_id}": {json.dumps(entry)}' for clip_id, entry in clips.items()]
    return json.dumps(head)[:-1] + ', "clips": {\n' + ",\n".join(entries) + "\n}}\n"
