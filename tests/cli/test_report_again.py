"""`bundle report`: the page of a run again, as it was, or complete."""

import shutil
from pathlib import Path

import pytest

from bundle_tools.cli.main import main
from bundle_tools.codabench.archive import zip_folder
from score.pipeline import main as score
from tests import ROOT
from tests.scoring.canary import CLIP_IDS, canary_case, secrets
from tests.scoring.factory import make_input
from tests.scoring.pages import HIDDEN
from tests.tiny import write_files

COMPETITION = """\
tasks: [{index: 0, name: Practice, scoring_program: scoring_program, reference_data: reference}]
phases: [{index: 0, name: Practice, tasks: [0]}]
leaderboards: [{columns: [{index: 0, key: explanation, title: Explanation score}]}]
"""


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle with one closed phase, and a run in `run/`."""
    root = tmp_path_factory.mktemp("closed")
    write_files(root, {"competition.yaml": COMPETITION})
    source = make_input(root / "input", canary_case(HIDDEN))
    (root / "scoring_program").symlink_to(ROOT / "scoring_program")
    (root / "reference").symlink_to(source / "ref")
    (root / "run").mkdir()
    (root / "run" / "ingestion_output").symlink_to(source / "res")
    assert score([str(source), str(root / "run" / "scoring_output")]) == 0
    return root


def test_the_page_is_the_one_of_the_run(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(bundle / "run"), "--bundle", str(bundle)]) == 0
    page = bundle / "run" / "detailed_results.html"
    assert f"Report: {page}" in capsys.readouterr().out
    assert page.read_text() == (bundle / "run" / "scoring_output" / "detailed_results.html").read_text()


def test_the_full_page_shows_what_is_closed_and_has_a_name_of_its_own(bundle: Path) -> None:
    assert main(["report", str(bundle / "run"), "--full", "--bundle", str(bundle)]) == 0
    page = (bundle / "run" / "full_results.html").read_text()
    assert "<strong>Private: do not publish.</strong>" in page
    assert all(clip_id in page for clip_id in CLIP_IDS)
    assert any(name.startswith("label 0") for name in secrets().found_in([page]))


def test_a_downloaded_zip_will_do(bundle: Path, tmp_path: Path) -> None:
    zip_folder(bundle / "run" / "ingestion_output", tmp_path / "prediction_result.zip")
    out = tmp_path / "page.html"
    assert main(["report", str(tmp_path / "prediction_result.zip"), "--out", str(out), "--bundle", str(bundle)]) == 0
    assert out.read_text() == (bundle / "run" / "scoring_output" / "detailed_results.html").read_text()


@pytest.mark.parametrize("planted", ["detailed_results.html", ".detailed_results.html.part"])
def test_a_planted_link_is_not_followed(bundle: Path, tmp_path: Path, planted: str) -> None:
    shutil.copytree(bundle / "run" / "ingestion_output", tmp_path / "run")
    (tmp_path / "victim").write_text("safe")
    (tmp_path / "run" / planted).symlink_to(tmp_path / "victim")
    assert main(["report", str(tmp_path / "run"), "--bundle", str(bundle)]) == 0
    assert (tmp_path / "victim").read_text() == "safe"
    page = tmp_path / "run" / "detailed_results.html"
    assert not page.is_symlink()
    assert "<title>" in page.read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "found nothing there"),
        (["reference"], "expected the results of ingestion"),
        (["run", "--out", "no/where.html"], "a file in an existing folder"),
        (["run", "--phase", "Semi-final"], "Semi-final"),
    ],
)
def test_mistakes_are_named(
    bundle: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    monkeypatch.chdir(bundle)
    assert main(["report", *arguments, "--bundle", "."]) == 1
    assert words in capsys.readouterr().err


def test_a_run_that_cannot_be_scored_says_why(bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = make_input(tmp_path, canary_case(HIDDEN)) / "res"
    (run / "clips.jsonl").write_text("")
    assert main(["report", str(run), "--bundle", str(bundle)]) == 1
    assert "results_damaged" in capsys.readouterr().err
