"""A bundle with fewer clips: for tests that want the whole way, but not its length."""

import json
import shutil
from pathlib import Path

from bundle_tools.challenge.reading.tables import fingerprint
from bundle_tools.codabench.rules.dataset import DataFiles
from runs import cut, first_clips, read_rows, write_rows


def comparable(scores: Path) -> dict[str, float]:
    """Return `scores.json` without what the machine and its other work decide: time, and whether they cost the run."""
    found: dict[str, float] = json.loads(scores.read_text("utf-8"))
    assert found.pop("duration_s") > 0
    assert found.pop("not_comparable") in (0, 1)
    return found


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
        kept, groups = first_clips(given, count), read_rows(wanted / "groups.csv")  # the kit has none
        for folder in (given, wanted):
            whole = folder.rename(folder.with_name(f"{folder.name}.whole"))
            cut(whole, folder, kept)
            shutil.rmtree(whole)
        people = {row["source_id"] for row in read_rows(wanted / "labels.csv")}
        if groups:
            write_rows(wanted / "groups.csv", [row for row in groups if row["source_id"] in people])
        # The scores of baselines are those of all clips; what they are compared with here does not matter.
        landmarks = json.loads((wanted / "landmarks.json").read_text("utf-8"))
        landmarks["data_sha256"] = fingerprint(DataFiles(given), DataFiles(wanted))
        (wanted / "landmarks.json").write_text(json.dumps(landmarks), "utf-8")
    return bundle


def ask_once(bundle: Path) -> Path:
    """Leave models no time to be loaded again, so that no clip is asked again, altered or not; returns the folder."""
    for settings in sorted((bundle / "input_data").glob("*/task.yaml")):
        text = settings.read_text("utf-8")
        assert text.count("\n  load_s: 60\n") == 1
        settings.write_text(text.replace("  load_s: 60\n", "  load_s: 600\n"), "utf-8")
    return bundle
