"""The participant's guide: what it tells to do works, and its example is right."""

import json
import re
from pathlib import Path

import pytest

from tests import ROOT
from tests.fewer import keep_clips
from tests.guides import run_script
from tests.kit.conftest import FORKING

GUIDE = (ROOT / "docs" / "participant.md").read_text("utf-8")
ONCE = "sed -i 's/load_s: 60/load_s: 600/' input_data/practice/task.yaml"
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
AXES = {
    "cue_claims": "cue claims",
    "faithfulness_space": "faithfulness in space",
    "known_causes": "known causes",
    "faithfulness_time": "faithfulness in time",
    "text": "text",
}


def table(heading: str) -> list[list[str]]:
    """Cells of the table whose first row begins with a heading."""
    lines = GUIDE.partition(f"\n| {heading} |")[2].partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in re.split(r"(?<= )\| ", line.strip("| "))] for line in lines]


def test_the_figures_of_the_example_are_those_of_the_landmarks() -> None:
    landmarks = json.loads((ROOT / "reference_data/practice/landmarks.json").read_text("utf-8"))["landmarks"]
    (columns,) = [one["columns"] for one in landmarks if one["key"] == "cue_reader"]
    shown = {row[0].partition(", weight")[0]: row[1] for row in table("part")}
    assert {title: shown[title] for title in AXES.values()} == {
        title: f"{columns[axis]:.2f}" for axis, title in AXES.items()
    }
    product = re.search(r"100 × ([\d.]+) × ([\d.]+) × ([\d.]+)² = (\d+)", GUIDE)
    assert product
    coverage, skill, mean, total = map(float, product.groups())
    assert total == round(columns["explanation"])
    assert 100 * coverage * skill * mean**2 == pytest.approx(total, abs=1.2)
    weights = [float(row[0].rpartition(" ")[2]) for row in table("part")[2:]]
    axes = [columns[axis] for axis in AXES]
    assert sum(weight * value**0.5 for weight, value in zip(weights, axes, strict=True)) == pytest.approx(
        mean, abs=5e-3
    )


@pytest.mark.slow
def test_every_command_works_in_the_order_of_the_guide(kit: Path, tmp_path: Path) -> None:
    keep_clips(kit, 1)
    script = []
    for number, (kind, text) in enumerate(BLOCK.findall(GUIDE)):
        if kind == "sh":
            # The template in place of the example, which looks at a clip for a second: the commands are what is tried.
            few = text.replace("solutions/cue_reader", "template")
            # The second run has no time left for altered copies: it is there to be compared.
            few = few.replace("python3 kit.py run my_variant", f"{ONCE}\npython3 kit.py run my_variant")
            script.append(few.replace("python3 kit.py", f"python3 {FORKING} kit.py"))
        else:
            (kit / f"block{number}.py").write_text(text, "utf-8")
            script.append(f"python3 block{number}.py")
    assert sum(line.startswith("python3 block") for line in script) == 1
    done = run_script("\n".join(script), kit, tmp_path / "bin")
    assert done.stdout.count("Report: ") == 2
    assert len(re.findall(r"Explanation score  +\d", done.stdout)) == 2
    assert re.search(r"'interview': 0\.\d+", done.stdout)
    explained = json.loads((kit / "runs/no_map/input/res/explanations.jsonl").read_text("utf-8").splitlines()[0])
    assert explained["evidence"]["space"] is None
    assert explained["evidence"]["cues"]
