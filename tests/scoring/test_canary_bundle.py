"""The same canaries through both programs, as the platform runs them: `bundle run` on the bundle's own hidden phase."""

import csv
import json
import shutil
from pathlib import Path

import pytest
import yaml

from bundle_tools.cli.main import main
from tests import ROOT
from tests.scoring.canary import CLIP_IDS, CONSTANT, LABELS, SOURCES, canary_labels, secrets, texts_of
from tests.scoring.factory import NAMES

SKELETON = ("competition.yaml", "logo.png", "pages", "ingestion_program", "scoring_program")
CLIPS = 3

GOOD = """\
class Model:
    def __init__(self, assets): pass
    def predict(self, clip):
        return dict.fromkeys(%r, 0.45)
    def explain(self, clip, prediction):
        return {"text": "The answer is the same for each and every clip.", "image": None, "evidence": None}
"""
FAILING = GOOD.replace("        return dict", "        raise ValueError('no answer')\n        return dict")
HALF = GOOD.replace(
    "        return dict", "        if clip.transcript.startswith('raise'): raise ValueError\n        return dict"
)
MODELS = {
    "good": GOOD,
    "one clip fails": HALF,
    "all clips fail": FAILING,
    "out of range": GOOD.replace("0.45", "1.45"),
    "does not load": "raise RuntimeError('no model')\n",
    "crashes": GOOD.replace("        return dict", "        import os; os._exit(3)\n        return dict"),
}


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle's final phase with three clips, whose ids, labels, sources and means are canaries."""
    root = tmp_path_factory.mktemp("canary-bundle")
    for name in SKELETON:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, root / name)
    data, reference = root / "input_data" / "final", root / "reference_data" / "final"
    (data / "clips").mkdir(parents=True)
    reference.mkdir(parents=True)
    with (ROOT / "input_data/final/clips.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))[:CLIPS]
    with (data / "clips.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["clip_id", "file", "sha256"])
        for clip_id, row in zip(CLIP_IDS, rows, strict=False):
            shutil.copy(ROOT / "input_data/final" / row["file"], data / "clips" / f"{clip_id}.mp4")
            writer.writerow([clip_id, f"clips/{clip_id}.mp4", row["sha256"]])
    (data / "transcripts.json").write_text(json.dumps({CLIP_IDS[1]: "raise your hand"}))
    shutil.copy(ROOT / "input_data/final/task.yaml", data)
    with (reference / "labels.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["clip_id", "source_id", *NAMES])
        writer.writerows([CLIP_IDS[n], SOURCES[n], *canary_labels()[n].tolist()] for n in range(CLIPS))
    settings = yaml.safe_load((ROOT / "reference_data/final/task.yaml").read_text())
    for target in settings["targets"]:
        target["constant"] = CONSTANT
    (reference / "task.yaml").write_text(yaml.safe_dump(settings, sort_keys=False))
    competition = yaml.safe_load((root / "competition.yaml").read_text())
    competition["tasks"] = [task for task in competition["tasks"] if "final" in task["input_data"]]
    index = competition["tasks"][0]["index"]
    competition["phases"] = [phase for phase in competition["phases"] if phase["tasks"] == [index]]
    competition.pop("solutions", None)
    (root / "competition.yaml").write_text(yaml.safe_dump(competition, sort_keys=False))
    return root


# One that fails on a clip says most; the others are ends of the same way.
@pytest.mark.parametrize(
    "name", ["one clip fails", *(pytest.param(n, marks=pytest.mark.slow) for n in MODELS if n != "one clip fails")]
)
def test_nothing_that_leaves_a_hidden_phase_tells_its_secrets(
    bundle: Path, tmp_path: Path, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    submission = tmp_path / "submission"
    submission.mkdir()
    source = MODELS[name]
    (submission / "model.py").write_text(source % (list(NAMES),) if "%r" in source else source)
    out = tmp_path / "out"
    main(["run", str(submission), "--bundle", str(bundle), "--out", str(out)])
    printed = "".join(capfd.readouterr())
    assert (out / "scoring_output" / "detailed_results.html").exists()
    # What scoring hands back, and what both programs print: no label, no mean, no source, no clip.
    public = [
        *texts_of(out / "scoring_output"),
        *texts_of(out / "logs"),
        (out / "ingestion_output/log.txt").read_text(),
    ]
    assert len(public) >= 4
    assert secrets().found_in(public) == []
    # The records name the clips, as they must for scoring; ingestion never knows anything else of them.
    assert secrets(clips=False).found_in([*texts_of(out / "ingestion_output"), printed]) == []


def test_the_bundle_holds_the_canaries(bundle: Path) -> None:
    found = secrets().found_in(texts_of(bundle / "reference_data"))
    assert {f"label {value}" for value in LABELS} <= set(found)
    assert {f"clip {clip_id}" for clip_id in CLIP_IDS[:CLIPS]} | {"constant"} <= set(found)
