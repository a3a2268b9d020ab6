"""A bundle with fewer clips: for tests that want the whole way, but not its length."""

import csv
import json
import shutil
from collections.abc import Container
from pathlib import Path
from typing import Any

from bundle_tools.challenge.fingerprint import fingerprint
from bundle_tools.codabench.rules.dataset import Dataset


def copy_with(bundle: Path, folder: Path, count: int, *names: str) -> Path:
    """Copy the named top-level entries of a bundle, and keep only the first `count` clips of every phase."""
    for name in names:
        source = bundle / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, folder / name)
    return keep_clips(folder, count)


def keep_clips(bundle: Path, count: int) -> Path:
    """Cut every phase of an unpacked bundle or kit down to its first `count` clips; changes the folder and returns it.

    Copies, exchanges, transcripts, labels, causes, key frames and groups of the other clips go too.
    """
    for given in sorted((bundle / "input_data").iterdir()):
        wanted = bundle / "reference_data" / given.name
        clips = _rows(given / "clips.csv")[:count]
        kept = {row["clip_id"] for row in clips}
        copies = [row for row in _rows(given / "copies.csv") if row["clip_id"] in kept]
        _write_rows(given / "clips.csv", clips)
        _write_rows(given / "copies.csv", copies)
        listed = json.loads((given / "exchanges.json").read_text("utf-8"))
        exchanges = _only(listed["clips"], kept)
        (given / "exchanges.json").write_text(json.dumps({**listed, "clips": exchanges}), "utf-8")
        files = {row["file"] for row in (*clips, *copies, *exchanges.values())}
        for path in (*given.glob("clips/*"), *given.glob("copies/*"), *given.glob("exchanges/*")):
            if path.relative_to(given).as_posix() not in files:
                path.unlink()
        transcripts = json.loads((given / "transcripts.json").read_text("utf-8"))
        spoken = _only(transcripts, kept | {row["copy_id"] for row in copies})
        (given / "transcripts.json").write_text(json.dumps(spoken), "utf-8")
        labels = [row for row in _rows(wanted / "labels.csv") if row["clip_id"] in kept]
        _write_rows(wanted / "labels.csv", labels)
        people = {row["source_id"] for row in labels}
        if (wanted / "groups.csv").exists():  # the kit has none
            _write_rows(wanted / "groups.csv", [r for r in _rows(wanted / "groups.csv") if r["source_id"] in people])
        if (wanted / "key_frames.csv").exists():
            frames = _rows(wanted / "key_frames.csv")
            _write_rows(wanted / "key_frames.csv", [row for row in frames if row["clip_id"] in kept])
            for row in frames:
                if row["clip_id"] not in kept:
                    (wanted / row["file"]).unlink()
        causes = json.loads((wanted / "causes.json").read_text("utf-8"))
        (wanted / "causes.json").write_text(json.dumps({**causes, "clips": _only(causes["clips"], kept)}), "utf-8")
        # The scores of baselines are those of all clips; what they are compared with here does not matter.
        landmarks = json.loads((wanted / "landmarks.json").read_text("utf-8"))
        landmarks["data_sha256"] = fingerprint(Dataset(given), Dataset(wanted))
        (wanted / "landmarks.json").write_text(json.dumps(landmarks), "utf-8")
    return bundle


def ask_once(bundle: Path) -> Path:
    """Leave models no time to be loaded again, so that no clip is asked again, altered or not; returns the folder."""
    for settings in sorted((bundle / "input_data").glob("*/task.yaml")):
        text = settings.read_text("utf-8")
        assert text.count("\n  load_s: 60\n") == 1
        settings.write_text(text.replace("  load_s: 60\n", "  load_s: 600\n"), "utf-8")
    return bundle


def _only(content: dict[str, Any], names: Container[str]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if name in names}


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _write_rows(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
