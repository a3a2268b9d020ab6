"""`bundle build --format codalab-v1`: the same challenge in CodaLab's form, as CodaLab and as Codabench take it."""

import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from markdown_it import MarkdownIt

from bundle_tools.challenge.build import TOP_LEVEL
from bundle_tools.challenge.check import check
from bundle_tools.cli.main import main
from bundle_tools.codabench.build_version1 import rendered_page
from bundle_tools.codabench.version1 import as_version2
from tests import ROOT, warm
from tests.fewer import copy_with
from tests.scoring.conftest import run_scoring
from tests.scoring.factory import make_case, make_input
from tests.tiny import COMPETITION, swap, write_files

PAGES = """\
pages:
  - {title: Overview, file: pages/overview.md}
  - {title: Evaluation, file: pages/evaluation.md}
  - {title: Data, file: pages/data.md}
  - {title: Questions and answers, file: pages/questions.md}
"""
MARKDOWN = (
    "# A *title*\n\n| a | b |\n|---|---|\n| 1 | `x` |\n\n```python\nx = 1\n\n\ny = '<b>'\n```\n\n- one\n\n- two\n"
)


@pytest.fixture
def whole(tiny: Path) -> Path:
    """Give the tiny bundle the pages that version 1 asks for, and a second phase that hides its output."""
    text = COMPETITION.replace("pages:\n  - {title: Overview, file: pages/overview.md}\n", PAGES)
    text = text.replace(
        "leaderboards:",
        '  - index: 1\n    name: Final\n    start: "2030-02-02 12:00:00"\n    end: "2030-03-01 12:00:00"\n'
        "    tasks: [0]\n    max_submissions: 0\n    hide_output: true\nleaderboards:",
    ).replace('start: "2030-01-01 12:00:00"', 'start: "2030-01-01 12:00:00"\n    end: "2030-02-01 12:00:00"')
    pages = {f"pages/{name}.md": MARKDOWN for name in ("evaluation", "data", "questions")}
    return write_files(tiny, {"competition.yaml": text, **pages})


def build(bundle: Path, *options: str) -> tuple[int, Path]:
    out = bundle.parent / "dist" / "v1.zip"
    words = ["build", "--bundle", str(bundle), "--out", str(out), "--format", "codalab-v1", "--no-training"]
    return main([*words, *options]), out


def document(archive: Path) -> dict[str, Any]:
    with zipfile.ZipFile(archive) as opened:
        content: dict[str, Any] = yaml.safe_load(opened.read("competition.yaml"))
        return content


def test_it_is_valid_and_runs_to_the_same_row(whole: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, out = build(whole)
    assert code == 0
    assert [finding.code for finding in check(out)] == ["version1"]
    rows = []
    for number, bundle in enumerate((whole, out)):
        capfd.readouterr()
        arguments = ["run", str(whole / "solutions/half"), "--bundle", str(bundle), "--phase", "final"]
        assert main([*arguments, "--out", str(whole.parent / str(number))]) == 0
        rows.append(capfd.readouterr().out.partition("Leaderboard row")[2].partition("Report:")[0])
    assert "Accuracy" in rows[0]
    assert rows[0] == rows[1]


def test_codabench_gets_back_what_version_2_says(whole: Path) -> None:
    before = yaml.safe_load((whole / "competition.yaml").read_text())
    after = as_version2(document(build(whole)[1]))
    same = ("title", "image", "docker_image", "enable_detailed_results")
    assert {key: after[key] for key in same} == {key: before[key] for key in same}
    assert [page["title"] for page in after["pages"]] == ["overview", "evaluation", "data", "Questions and answers"]
    assert [phase["name"] for phase in after["phases"]] == ["Practice", "Final"]
    assert "hide_output" not in after["phases"][0]
    assert after["phases"][1]["hide_output"] is True
    (board,), (given,) = after["leaderboards"], before["leaderboards"]
    assert board["columns"] == [{**column, "hidden": False} for column in given["columns"]]
    assert after["tasks"][1]["reference_data"] == "reference_data/practice.zip"


def test_codalab_finds_what_it_asks_for(whole: Path) -> None:
    out = build(whole)[1]
    content = document(out)
    assert {"overview", "evaluation", "data", "terms"} <= set(content["html"])
    assert content["end_date"] == "2030-03-01 12:00:00"
    assert [phase["start_date"] for phase in content["phases"].values()] == [
        "2030-01-01 12:00:00",
        "2030-02-02 12:00:00",
    ]
    # 0 would forbid every submission there.
    assert content["phases"][2]["max_submissions"] == 1_000_000
    assert not any(phase["is_scoring_only"] for phase in content["phases"].values())
    with zipfile.ZipFile(out) as opened:
        named = {phase[key] for phase in content["phases"].values() for key in phase if str(phase[key]).endswith("zip")}
        assert named <= set(opened.namelist())
        assert set(opened.namelist()) == {"competition.yaml", "logo.png", *content["html"].values(), *named}


def test_the_column_that_ranks_comes_first(whole: Path) -> None:
    swap(whole / "competition.yaml", "    submission_rule: Add\n", "    primary_index: 1\n")
    board = as_version2(document(build(whole)[1]))["leaderboards"][0]
    assert [column["key"] for column in board["columns"]] == ["errors", "accuracy"]


def test_ends_that_change_are_told(whole: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = whole / "competition.yaml"
    build(whole)
    assert "will end it at" not in capsys.readouterr().out
    swap(path, 'end: "2030-02-01 12:00:00"', 'end: "2030-01-20 12:00:00"')
    build(whole)
    assert "Practice: Codabench will end it at 2030-02-01 12:00:00 UTC" in capsys.readouterr().out


def test_all_that_version_1_cannot_hold_is_named(whole: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = whole / "competition.yaml"
    text = path.read_text().replace("title: Data,", "title: Clips,")
    text = text.replace("index: 1, key: errors,", "index: 1, key: errors, computation: avg, computation_indexes: [0],")
    path.write_text(text)
    code, out = build(whole)
    assert code == 1
    assert not out.exists()
    said = capsys.readouterr().err
    assert "no page titled Data; the computed column errors." in said


@pytest.mark.parametrize("new", [(), ("--no-key",)])
def test_a_key_only_where_it_is_wanted(whole: Path, new: tuple[str, ...]) -> None:
    _, out = build(whole, *new)
    with zipfile.ZipFile(out) as opened, opened.open("scoring_program.zip") as packed, zipfile.ZipFile(packed) as inner:
        assert ("seal.key" in inner.namelist()) is not bool(new)


def test_secrets_and_wrong_columns_are_looked_for_in_the_converted_bundle(whole: Path, tmp_path: Path) -> None:
    _, out = build(whole)
    with zipfile.ZipFile(out) as opened:
        files = {name: opened.read(name) for name in opened.namelist()}
    text = files["competition.yaml"].decode()
    text = text.replace("    input_data:", "    starting_kit: reference_data/practice.zip\n    input_data:", 1)
    text = text.replace("label: Accuracy", f"label: {'x' * 37}", 1)
    write_files(tmp_path / "open", {**files, "competition.yaml": text})
    assert {"leak", "key-value"} <= {finding.code for finding in check(tmp_path / "open")}


def test_pages_pass_through_a_second_rendering() -> None:
    # Codabench takes a page of version 1 for Markdown; what changes there would look broken.
    markdown = MarkdownIt("commonmark")
    for text in (MARKDOWN, *(page.read_text("utf-8") for page in sorted((ROOT / "pages").glob("*.md")))):
        page = rendered_page(text)
        assert "" not in page.splitlines()
        assert markdown.render(page) == page
    assert "x = 1&#10;&#10;&#10;y = '&lt;b&gt;'" in rendered_page(MARKDOWN)


@pytest.mark.slow
@pytest.mark.usefixtures("asked_in_a_fork")
def test_the_real_challenge_scores_alike_under_both_contracts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = copy_with(ROOT, tmp_path / "challenge", 1, *TOP_LEVEL)
    # What is wrong with the folder is looked for in test_real_bundle.py.
    monkeypatch.setattr(
        "bundle_tools.challenge.build.check", lambda path, **told: [] if path == bundle else check(path, **told)
    )
    code, out = build(bundle, "--no-key")
    assert code == 0
    with zipfile.ZipFile(out) as opened, opened.open("scoring_program.zip") as packed, zipfile.ZipFile(packed) as inner:
        inner.extractall(tmp_path / "program")
    source, target = make_input(tmp_path / "input", make_case()), tmp_path / "output"
    (source / "metadata").write_text("submitted-by: ada\ncompetition-phase: 1\n")
    command = yaml.safe_load((tmp_path / "program" / "metadata").read_text())["command"]
    for variable, value in (("$program", tmp_path / "program"), ("$input", source), ("$output", target)):
        command = command.replace(variable, str(value))
    words = command.split()
    assert words[0] == "python3"
    done = warm.run(Path(words[1]), words[2:], cwd=Path("/"))
    assert done.code == 0, done.printed
    scores = (target / "scores.txt").read_text()
    assert scores == (run_scoring(source, tmp_path / "second").out / "scores.txt").read_text()
    # As CodaLab reads them: one colon a line.
    assert all(float(line.split(":")[1]) >= 0 for line in scores.splitlines())
    assert "ada" in (target / "detailed_results.html").read_text()
