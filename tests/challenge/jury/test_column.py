"""From ratings to the leaderboard: files of the result, the reference data, the column, and what checks them."""

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from bundle_tools.challenge.jury.criteria import Key, RatedItem, read_key
from bundle_tools.cli.main import main
from score.errors import OrganiserError
from score.pipeline import main as score
from score.read.reference import read_jury
from tests.challenge.jury.finalists import PHASE, make_bundle, make_run
from tests.challenge.jury.juries import answers_of, honest, quick_rules, write_ratings
from tests.challenge.jury.ratings import BROKEN, write
from tests.scoring.factory import write_manifest

NAMES = ("honest-team", "other-team", "silent-team")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A jury that was made, rated and scored; the ratings are in the reference data."""
    folder = tmp_path_factory.mktemp("played")
    bundle = make_bundle(folder / "bundle")
    runs = [str(make_run(folder / name, bundle, name)) for name in NAMES]
    words = ["--bundle", str(bundle), *quick_rules(folder)]
    options = ["--jurors", "4", "--clips", "8", "--seed", "x"]
    made = ["jury", "make", *runs, "--out", str(folder / "jury"), *options, *words]
    assert main(made) == 0
    key = read_key(folder / "jury" / "key.json")
    quality = {team.letter: {"honest-team": 4.0, "other-team": 2.5}.get(team.name, 3.0) for team in key.teams}
    rate = honest(quality, noise=0.4)
    files = [str(write_ratings(folder / f"{n}.json", key, n, remarked(key, n, rate))) for n in (1, 2, 3, 4)]
    scored = ["jury", "score", *files, "--key", str(folder / "jury" / "key.json"), "--out", str(folder / "result")]
    assert main([*scored, "--write", *words]) == 0
    assert main([*scored, "--write", *words]) == 0  # a second time changes nothing
    return folder


def remarked(key: Key, juror: int, rate: Callable[[int, RatedItem], list[int]]) -> dict[str, Any]:
    answers = answers_of(key, juror, rate)
    answers[key.items[0].item_id]["remark"] = f"<b>remark</b> of {juror}"
    return answers


def column(folder: Path, name: str, out: Path) -> float:
    given = out / "input"
    given.mkdir(parents=True)
    (given / "ref").symlink_to(folder / "bundle" / "reference_data" / PHASE)
    (given / "res").symlink_to(folder / name / "ingestion_output")
    assert score([str(given), str(out / "output")]) == 0
    return float(json.loads((out / "output" / "scores.json").read_text())["jury"])


@pytest.mark.slow
def test_scoring_again_fills_the_column(played: Path, tmp_path: Path) -> None:
    found = {name: column(played, name, tmp_path / name) for name in NAMES}
    assert found["honest-team"] == pytest.approx(4.0, abs=0.4)
    assert found["honest-team"] > found["other-team"] > found["silent-team"] > 0
    settings = (played / "bundle" / "reference_data" / PHASE / "task.yaml").read_text("utf-8")
    assert settings.count("jury: jury.json") == 1
    assert yaml.safe_load(settings)["jury"] == "jury.json"
    changed = played / "changed"
    shutil.copytree(played / "honest-team", changed)
    explanations = changed / "ingestion_output" / "explanations.jsonl"
    explanations.write_bytes(explanations.read_bytes().replace(b"raised", b"lifted", 1))
    write_manifest(changed / "ingestion_output")
    assert column(played, "changed", tmp_path / "changed") == 0  # other explanations than the jury saw


def test_two_jurors_make_no_result(played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["jury", "score", str(played / "1.json"), str(played / "2.json"), "--key", str(played / "jury/key.json")]
    words += ["--rules", str(played / "criteria.yaml")]
    assert main([*words, "--out", str(tmp_path / "result")]) == 1
    assert "2 of 2 jurors count; expected at least 3 for a result" in capsys.readouterr().err
    assert not (tmp_path / "result").exists()
    assert main([*words, "--out", str(tmp_path / "result"), "--partial"]) == 0
    assert "Only two jurors count" in capsys.readouterr().out
    assert main([*words, "--out", str(tmp_path / "result"), "--partial", "--write"]) == 1


def test_the_published_files_name_nobody(played: Path) -> None:
    text = (played / "result" / "ratings.csv").read_text("utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    assert {row["juror"] for row in rows} == {"1", "2", "3", "4"}
    assert {row["team"] for row in rows} == set("ABC")
    assert not [name for name in (*NAMES, "remark") if name in text]
    page = (played / "result" / "jury.html").read_text("utf-8")
    assert "&lt;b&gt;remark&lt;/b&gt; of 1" in page
    assert all(name in page for name in NAMES)
    assert "<script" not in page


@pytest.mark.parametrize("name", BROKEN)
def test_broken_ratings_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(OrganiserError) as error:
        read_jury(write(tmp_path / "jury.json", BROKEN[name]))
    assert [problem.code for problem in error.value.problems] == ["jury_broken"]


def test_missing_and_unreadable_ratings_are_refused(played: Path, tmp_path: Path) -> None:
    assert len(read_jury(played / "result" / "jury.json")) == 3
    (tmp_path / "jury.json").write_text("{")
    for path in (tmp_path / "jury.json", tmp_path / "nothing.json"):
        with pytest.raises(OrganiserError):
            read_jury(path)


def test_ratings_of_another_scale_are_stretched(tmp_path: Path) -> None:
    def wider(root: dict[str, Any]) -> None:
        root["scale"] = [0, 10]
        for entry in root["submissions"].values():
            entry["value"] *= 2
            entry["interval"] = [2 * end for end in entry["interval"]]
            entry["criteria"] = {name: 2 * value for name, value in entry["criteria"].items()}

    plain, stretched = (
        read_jury(write(tmp_path / f"{n}.json", edit)) for n, edit in enumerate((lambda _: None, wider))
    )
    assert {key: rating.value for key, rating in stretched.items()} == pytest.approx(
        {key: rating.value for key, rating in plain.items()}
    )


def test_a_jury_needs_two_runs_and_an_empty_place(
    played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--bundle", str(played / "bundle"), "--clips", "4"]
    one = str(played / "honest-team")
    assert main(["jury", "make", one, "--out", str(tmp_path / "j"), *words]) == 1
    assert "at least two runs" in capsys.readouterr().err
    shutil.copytree(played / "honest-team", tmp_path / "twin")
    assert main(["jury", "make", one, str(tmp_path / "twin"), "--out", str(tmp_path / "j"), *words]) == 1
    assert "the same explanations" in capsys.readouterr().err
    assert not (tmp_path / "j").exists()
