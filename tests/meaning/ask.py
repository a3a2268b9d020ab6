"""Ask a submission to explain the plain clips of a set: ``python -m tests.meaning.ask SUBMISSION INPUT_DATA FILE``.

Writes what ingestion would record in ``explanations.jsonl``, but for pictures. One process a submission: all have a
module of the same name.
"""

import csv
import json
import sys
from importlib import import_module
from pathlib import Path

import cv2

from file_clip import FileClip
from ingest.answers import check_explanation
from ingest.settings import read_task


def main(submission: Path, input_data: Path, file: Path) -> None:
    """Ask about every clip of the list."""
    cv2.setNumThreads(1)
    sys.path.insert(0, str(submission))
    model = import_module("model").Model(submission)
    task = read_task(input_data / "task.yaml")
    words = json.loads((input_data / task.transcripts_file).read_text(encoding="utf-8"))
    with (input_data / task.clips_file).open(encoding="utf-8", newline="") as table, file.open("w") as lines:
        for row in csv.DictReader(table):
            clip = FileClip(input_data / row["file"], words.get(row["clip_id"], ""))
            said = model.explain(clip, model.predict(clip))
            told, _ = check_explanation(said, task.explanation, task.targets, clip.duration_s)
            evidence = None if told.evidence is None else told.evidence.record()
            line = {"clip_id": row["clip_id"], "text": told.text, "image": None, "evidence": evidence}
            lines.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
