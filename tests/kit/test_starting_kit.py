"""The starting kit as a participant unpacks it: every command of its README works in an empty folder."""

import csv
import json
import re
import shutil
import zipfile
from pathlib import Path

import jsonschema
import yaml

from ingest.submission.checks import fingerprint
from tests import ROOT, warm
from tests.fewer import ask_once, keep_clips
from tests.guides import run_script
from tests.kit.conftest import FORKING

SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run_kit(kit: Path, *arguments: str) -> warm.Ended:
    return warm.run(kit / "run.py", arguments, cwd=kit)


def test_commands_of_the_readme_work(kit: Path, tmp_path: Path) -> None:
    blocks = SHELL.findall((kit / "README.md").read_text("utf-8"))
    # The first block makes an environment; the one that runs these tests has the same packages.
    assert "pip install" in blocks[0]
    # What asking again brings, the participant's guide looks at.
    script = "\n".join(blocks[1:]).replace("python3 run.py", f"python3 {FORKING} run.py")
    result = run_script(script, ask_once(keep_clips(kit, 1)), tmp_path / "bin")
    assert result.stdout.count("Report: ") == 4
    by_run = json.loads((kit / "my_run/output/scores.json").read_text("utf-8"))
    by_hand = json.loads((kit / "by_hand/output/scores.json").read_text("utf-8"))
    assert {**by_run, "duration_s": 0} == {**by_hand, "duration_s": 0}
    named = re.findall(
        r"`((?:input|output)/[\w./]+)`", (kit / "README.md").read_text("utf-8").partition("leaves behind")[2]
    )
    assert len(named) == 8
    assert [name for name in named if not (kit / "my_run" / name).exists()] == []


def test_a_submission_without_a_model_says_so(kit: Path) -> None:
    (kit / "my_run/input/res").mkdir(parents=True)
    (kit / "my_run/input/res/log.txt").write_text("earlier", "utf-8")
    result = run_kit(kit, "solutions")
    assert result.code == 1
    assert "error: submission: model.py inside the folder constant" in result.printed
    assert f"give the folder that holds it: {Path('solutions/constant')}" in result.printed
    assert "Nothing was run" in result.printed
    assert (kit / "my_run/input/res/log.txt").read_text("utf-8") == "earlier"


def test_something_that_is_no_submission_is_refused(kit: Path) -> None:
    assert "README.md is no folder and no zip" in run_kit(kit, "README.md").printed
    assert "give its folder: template" in run_kit(kit, "template/model.py").printed
    assert f"missing.zip does not exist below {kit}" in run_kit(kit, "missing.zip").printed


def test_of_a_folder_runs_what_would_be_packed(kit: Path) -> None:
    shutil.copytree(kit / "template", kit / "mine")
    (kit / "mine/.notes").write_text("x", "utf-8")
    shutil.copytree(kit / "mine", kit / "mine/.ipynb_checkpoints")
    result = run_kit(ask_once(kit), "mine", "--clips", "1")
    assert result.code == 0, result.printed
    assert "note: submission: 3 files of no use" in result.printed
    assert "run all of them before you compare" in result.printed
    ran = json.loads((kit / "my_run/input/res/run.json").read_text("utf-8"))["submission_sha256"]
    assert ran == fingerprint(kit / "template").sha256


def test_a_damaged_zip_is_refused_and_earlier_results_stay(kit: Path) -> None:
    # The content of this zip starts after its name, 38 bytes in; these bytes are no valid deflate stream.
    with zipfile.ZipFile(kit / "cut.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.py", "x = 1\n" * 100)
    content = (kit / "cut.zip").read_bytes()
    (kit / "cut.zip").write_bytes(content[:38] + b"\xff" * 8 + content[46:])
    (kit / "my_run/input/res").mkdir(parents=True)
    (kit / "my_run/input/res/log.txt").write_text("earlier", "utf-8")
    result = run_kit(kit, "cut.zip")
    assert result.code == 2
    assert "cut.zip cannot be unpacked" in result.printed
    assert "Traceback" not in result.printed
    assert (kit / "my_run/input/res/log.txt").read_text("utf-8") == "earlier"


def test_results_never_replace_other_files(kit: Path) -> None:
    result = run_kit(kit, "template", "--out", "solutions")
    assert result.code == 2
    assert "holds other things" in result.printed
    assert (kit / "solutions/constant/model.py").is_file()


def test_tables_name_what_the_kit_holds(kit: Path) -> None:
    table = (kit / "README.md").read_text("utf-8").partition("## What is in the kit")[2].partition("## ")[0]
    named = re.findall(
        r"`([\w./]+)`", "\n".join(line.partition(" | ")[0] for line in table.splitlines() if line.startswith("|"))
    )
    assert len(named) >= 9
    assert [name for name in named if not (kit / name).exists()] == []


def test_links_lead_somewhere_in_the_kit(kit: Path) -> None:
    dead, seen = [], 0
    for guide in sorted(kit.rglob("*.md")):
        text = re.sub(r"^```\w*\n.*?^```$", "", guide.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
        links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text)]
        seen += len(links)
        dead += [f"{guide.name}: {link}" for link in links if "://" not in link and not (guide.parent / link).exists()]
    assert seen > 2
    assert dead == []


def test_the_sample_of_outputs_has_the_form_of_real_ones() -> None:
    folder = ROOT / "starting_kit" / "sample_output"
    schema = yaml.safe_load((ROOT / "docs" / "output_format.schema.yaml").read_text("utf-8"))
    checks = jsonschema.Draft202012Validator({**schema, **schema["$defs"]["explanations.jsonl"]})
    lines = (folder / "explanations.jsonl").read_text("utf-8").splitlines()
    for line in lines:
        checks.validate(json.loads(line))
        assert json.loads(line)["image"] is None
    with (ROOT / "input_data" / "practice" / "clips.csv").open() as file:
        clips = {row["clip_id"] for row in csv.DictReader(file)}
    with (folder / "predictions.csv").open() as file:
        predicted = [row["clip_id"] for row in csv.DictReader(file)]
    assert len(predicted) == 3
    assert predicted == [json.loads(line)["clip_id"] for line in lines]
    assert set(predicted) <= clips
    assert sum(path.stat().st_size for path in folder.iterdir()) < 40_000
