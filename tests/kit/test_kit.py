"""The starting kit as a participant unpacks it: its commands work in an empty folder, and it lacks nothing."""

import csv
import json
import re
import shutil
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml

import runs
from ingest.submission import fingerprint
from kit import main
from tests import ROOT, warm
from tests.fewer import ask_once, comparable, keep_clips
from tests.guides import run_script
from tests.kit.conftest import FORKING
from tests.tiny import write_files

SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"^```\w*\n.*?^```$", re.MULTILINE | re.DOTALL)
NOT_IN_THE_KIT = {
    # What participants get elsewhere, what they make themselves, and what belongs to others.
    *("public_data/", "runs/NAME/", "runs/", "input/res/images/", "my_submission.zip"),
    *("my_submission/model.py", "model.py"),
    *("language_cases.yaml", "sentences.yaml", "outside_sentences.yaml"),
}


def run_kit(kit: Path, *arguments: str) -> warm.Ended:
    return warm.run(FORKING, ["kit.py", *arguments], cwd=kit)


def test_commands_of_the_readme_work(kit: Path, tmp_path: Path) -> None:
    blocks = SHELL.findall((kit / "README.md").read_text("utf-8"))
    # The first block makes an environment; the one that runs these tests has the same packages.
    assert "pip install" in blocks[0]
    # What asking again brings, the participant's guide looks at.
    script = "\n".join(blocks[1:]).replace("python3 kit.py", f"python3 {FORKING} kit.py")
    result = run_script(script, ask_once(keep_clips(kit, 1)), tmp_path / "bin")
    assert result.stdout.count("Report: ") == 3
    names = sorted(path.name for path in (kit / "runs").iterdir())
    assert names == ["cue_reader", "my_submission", "packed"]
    by_hand = comparable(kit / "by_hand/output/scores.json")
    assert comparable(kit / "runs/my_submission/output/scores.json") == by_hand
    named = re.findall(
        r"`((?:input|output)/[\w./]+)`", (kit / "README.md").read_text("utf-8").partition("leaves behind")[2]
    )
    assert len(named) == 9
    assert [name for name in named if not (kit / "runs/cue_reader" / name).exists()] == []


def test_without_arguments_it_says_what_to_do_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    printed = capsys.readouterr().out
    assert len(printed.splitlines()) < 12
    named = re.findall(r"kit\.py (\w+)", printed)
    assert named == ["run", "check", "run", "compare", "diagnose", "pack", "submit", "read"]
    for command in {*named}:
        with pytest.raises(SystemExit) as ended:
            main([command, "--help"])
        assert ended.value.code == 0


def test_nothing_is_run_of_what_would_be_refused(kit: Path) -> None:
    result = run_kit(kit, "run", "solutions")
    assert result.code == 1
    assert "error: submission: model.py inside the folder constant" in result.printed
    assert f"give the folder that contains it: {Path('solutions/constant')}" in result.printed
    assert "Nothing was run" in result.printed
    assert not (kit / "runs").exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("README.md", "README.md is neither a folder nor a zip"),
        ("template/model.py", "give its folder: template"),
        ("missing.zip", "missing.zip does not exist below "),
    ],
)
@pytest.mark.parametrize("command", ["run", "check", "pack"])
def test_something_that_is_no_submission_is_refused(
    command: str, given: str, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT / "starting_kit")
    assert main([command, given]) == 2
    assert said in capsys.readouterr().err or command == "pack"


def test_no_clips_are_no_run(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["run", "template", "--clips", "0"])
    assert "expected a whole number, at least 1; found '0'" in capsys.readouterr().err


@pytest.mark.slow
def test_of_a_folder_runs_what_would_be_packed(kit: Path) -> None:
    shutil.copytree(kit / "template", kit / "mine")
    (kit / "mine/.notes").write_text("x", "utf-8")
    shutil.copytree(kit / "mine", kit / "mine/.ipynb_checkpoints")
    result = run_kit(ask_once(kit), "run", "mine", "--clips", "1", "--name", "first")
    assert result.code == 0, result.printed
    assert "note: submission: 3 files not needed" in result.printed
    assert "To measure and compare, run all: python3 kit.py run mine" in result.printed
    record = kit / "runs/first/input/res/run.json"
    ran = json.loads(record.read_text("utf-8"))["submission_sha256"]
    assert ran == fingerprint(kit / "template").sha256
    # No run replaces another one.
    again = run_kit(kit, "run", "mine", "--clips", "1", "--name", "first")
    assert (again.code, "runs/first exists already: choose another --name" in again.printed) == (2, True)
    assert json.loads(record.read_text("utf-8"))["submission_sha256"] == ran


def test_runs_without_a_name_get_a_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for submission, expected in (("mine", "mine"), ("mine", "mine-2"), ("mine.v2.zip", "mine.v2"), ("mine", "mine-3")):
        if not submission.endswith(".zip"):
            Path(submission).mkdir(exist_ok=True)
        folder = runs.new_folder(Path(submission), None)
        assert folder == Path("runs") / expected
        folder.mkdir(parents=True)


def test_runs_are_compared_with_the_one_before_over_the_same_clips(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine").mkdir()
    for name, clips, scored in (("mine", "a b", True), ("mine-2", "a", True), ("mine-3", "a b", False)):
        write_files(runs.RUNS / name, {runs.LABELS: clips, **({runs.SCORES: "{}"} if scored else {})})
    write_files(runs.RUNS, {f"mine-4/{runs.LABELS}": "a b", f"mine-4/{runs.SCORES}": "{}", "mine-6/x": ""})
    assert runs.finished(Path("mine"), runs.RUNS / "mine-4") == [runs.RUNS / "mine"]
    assert runs.finished(Path("mine"), runs.RUNS / "mine") == [runs.RUNS / "mine-4"]
    assert runs.finished(Path("mine"), runs.RUNS / "mine-2") == []


@pytest.mark.parametrize("level", ["full", "portable", None])
def test_a_weaker_sandbox_is_said_in_a_line(level: str | None, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps({"isolation": level}), "utf-8")
    said: list[str] = []
    runs._warn_of_isolation(tmp_path / "run.json", said.append)
    assert len(said) == (level == "portable")


def test_what_both_programs_say_of_a_problem_is_said_once() -> None:
    said: list[str] = []
    once = runs.Once(said.append, {"install_ignored"})
    raised = "model_raised · model.py line 4 · found ValueError: x; expected an answer · correct that line"
    for line in (
        "[ingestion] install_ignored · submission · found setup.py; expected none · ignored",
        f"[ingestion] clip c1 · {raised}",
        "[ingestion] first pass: 1 of 2 clips, 0.02 s each; about 0:00 to go, 8:00 of the time budget left",
        f"[ingestion] 2 of 2 clips · {raised}",
        f"[ingestion] every_clip_failed · {raised.partition(' · ')[2].replace('found', 'found model_raised:')}",
        "For you:",
        "  - ERROR · 2 times · model_raised · model.py line 4 · found ValueError: x · expected an answer",
        "  - WARNING · files_ignored · x · found a file",
    ):
        once(line)
    assert said == [
        f"[ingestion] clip c1 · {raised}",
        "[ingestion] first pass: 1 of 2 clips, 0.02 s each; about 0:00 to go, 8:00 of the time budget left",
        "[ingestion] 2 of 2 clips · model_raised · model.py line 4",
        "[ingestion] every_clip_failed · model.py line 4",
        "For you:",
        "  - WARNING · files_ignored · x · found a file",
    ]
    assert once.levels == {"ERROR": 1, "WARNING": 1}


@pytest.mark.parametrize(("clips", "shown"), [(None, 2), (3, 0)])
def test_that_few_clips_show_few_people_is_no_news(clips: int | None, shown: int) -> None:
    said: list[str] = []
    once = runs.Once(said.append, set(), clips)
    for line in ("For the organisers:", "  - WARNING · yardstick_missing · perturbed copies · found units of 2 people"):
        once(line)
    assert (len(said), once.levels["WARNING"]) == (shown, int(bool(shown)))


@pytest.mark.parametrize(("columns", "erased"), [(200, 1), (60, 2)])
def test_each_pass_has_one_line_of_progress_on_a_terminal(
    columns: int, erased: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    screen = runs.ProgressLines()
    for line in (
        "[ingestion] first pass: 1 of 2 clips, 0.02 s each; about 0:00 to go, 8:00 of the time budget left",
        "[ingestion] first pass: 2 of 2 clips, 0.02 s each; 8:00 left",
        "[ingestion] second pass: 9 of 9 calls, 0.02 s each; 8:00 left",
        "[ingestion] complete",
    ):
        screen(line)
    assert capsys.readouterr().out.count(runs._ONE_UP) == erased


def test_all_pages_that_a_model_is_written_from_are_there(kit: Path) -> None:
    pages = {path.name for path in (ROOT / "pages").glob("*.md")}
    assert {path.name for path in (kit / "pages").iterdir()} == pages
    assert {"submission.md", "explanations.md", "data.md", "environment.md", "evaluation.md"} <= pages


def test_what_its_texts_name_is_in_the_kit(kit: Path) -> None:
    absent, seen = [], 0
    for guide in sorted(kit.rglob("*.md")):
        text = FENCED.sub("", guide.read_text("utf-8"))
        links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]
        absent += [f"{guide.name}: {link}" for link in links if not (guide.parent / link).exists()]
        named = re.findall(r"`((?:[\w.-]+/)*[\w.-]+(?:\.(?:py|md|ipynb|lock|zip|onnx)|/))`", text)
        seen += len(links) + len(named)
        near = (kit, guide.parent, guide.parent / "cuereader", kit / "input_data/practice")
        absent += [
            f"{guide.name}: {name}"
            for name in named
            if name not in NOT_IN_THE_KIT and not any((place / name).exists() for place in near)
        ]
    assert seen > 50
    assert not absent, "\n".join(absent)


def test_the_list_names_what_the_kit_holds(kit: Path) -> None:
    section = (kit / "README.md").read_text("utf-8").partition("## What is in the kit")[2].partition("## ")[0]
    heads = " ".join(re.findall(r"^- (.+?)(?:: |$)", section, re.MULTILINE))
    named = re.findall(r"`([\w./]+)`", heads + section.partition("`kit.py`")[2].partition("\n")[0])
    assert [name for name in named if not (kit / name).exists()] == []
    tops = {name.partition("/")[0] for name in named}
    assert {path.name for path in kit.iterdir()} - tops <= {"README.md"}


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
