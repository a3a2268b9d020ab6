"""`bundle compare` on results as the scoring program's tests write them: totals, order, forms of a run, mistakes."""

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bundle_tools.challenge.compare import runs
from bundle_tools.challenge.compare.field import Standing, lines
from bundle_tools.challenge.compare.runs import find_runs
from bundle_tools.cli.main import main
from bundle_tools.codabench.archive import zip_folder
from bundle_tools.errors import BundleError
from score.pipeline import main as score
from tests import ROOT
from tests.challenge.compare.field import CLIPS, noisy, write_field
from tests.scoring.factory import full_explanation, make_case, write_manifest
from tests.tiny import write_files


def silent(clip_id: str) -> dict[str, Any]:
    return {**full_explanation(clip_id), "evidence": None}


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a bundle and four runs of its one phase; two of them are the same."""
    words = noisy(0)
    words.explain, words.probes = silent, None
    runs = {"good": noisy(0), "twin": noisy(0), "noisy": noisy(0.1), "words": words}
    return write_field(tmp_path_factory.mktemp("field"), runs)


def compared(capsys: pytest.CaptureFixture[str], field: Path, *runs: str, options: tuple[str, ...] = ()) -> Any:  # noqa: ANN401 - JSON
    paths = [str(field / run) for run in runs]
    assert main(["compare", *paths, "--bundle", str(field), "--json", "--resamples", "200", *options]) == 0
    return json.loads(capsys.readouterr().out)


def test_totals_are_those_of_the_scoring_program(
    field: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    found = {run["name"]: run for run in compared(capsys, field, "good", "noisy", "words")["runs"]}
    for name, run in found.items():
        source = tmp_path / name
        source.mkdir()
        shutil.copytree(field / "reference", source / "ref")
        shutil.copytree(field / name / "ingestion_output", source / "res")
        assert score([str(source), str(source / "output")]) == 0
        scores = json.loads((source / "output/scores.json").read_text())
        assert run["total"] == pytest.approx(scores["explanation"], abs=0.006)
        assert run["coverage"] == pytest.approx(scores["coverage"], abs=6e-5)
        for axis, value in run["axes"].items():
            assert value == pytest.approx(scores[axis], abs=6e-5)
        mean = sum(
            weight * run["axes"][axis]
            for axis, weight in zip(
                ("cue_claims", "faithfulness_space", "known_causes", "faithfulness_time", "text"),
                (0.37, 0.21, 0.21, 0.16, 0.05),
                strict=True,
            )
        )
        assert run["arithmetic"] == pytest.approx(100 * run["coverage"] * run["skill"] * mean)
        if run["total"]:
            low, high = run["interval"]
            assert low < run["total"] < high


@pytest.mark.slow
def test_a_process_that_knows_no_scoring_program_takes_the_bundles(field: Path) -> None:
    words = ["compare", str(field / "good"), str(field / "words"), "--bundle", str(field), "--resamples", "20"]
    command = [sys.executable, "-m", "bundle_tools.cli.main", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert "good" in done.stdout


def test_better_runs_stand_apart_and_the_same_run_shares_a_band(
    field: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = compared(capsys, field, "words", "twin", "noisy", "good")["runs"]
    assert [run["name"] for run in runs[:2]] == ["good", "twin"]
    assert [(run["band"], run["place"]) for run in runs[:2]] == [(1, 1), (1, 1)]
    assert all(run["band"] > 1 and run["place"] > 2 for run in runs[2:])
    assert runs[0]["above"]["twin"] == 0
    assert runs[0]["above"]["noisy"] >= 0.95
    assert len({run["mean_rank_place"] for run in runs[:2]}) == 1
    assert {run["arithmetic_place"] for run in runs[:2]} == {1}


def test_every_form_of_a_run_is_found(field: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    inside = field / "good" / "ingestion_output"
    zip_folder(inside, tmp_path / "downloaded.zip")
    shutil.copytree(inside, tmp_path / "plain")
    shutil.copytree(inside, tmp_path / "kit/input/res")
    paths = [str(tmp_path / name) for name in ("downloaded.zip", "plain", "kit")]
    assert main(["compare", *paths, "--bundle", str(field), "--json", "--resamples", "20"]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert sorted(run["name"] for run in runs) == ["downloaded", "kit", "plain"]
    assert len({run["total"] for run in runs}) == 1


def test_the_table_is_for_people(field: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["compare", *(str(field / name) for name in ("good", "noisy", "words")), "--bundle", str(field)]
    assert main([*arguments, "--resamples", "50"]) == 0
    printed = capsys.readouterr().out
    assert "95 % interval" in printed
    assert "faithfulness_space" in printed
    rows = [line.split() for line in printed.splitlines()]
    assert [row[-1] for row in rows if row[-1:] in (["good"], ["noisy"], ["words"])].count("good") == 4
    assert all(len(line) <= 120 for line in printed.splitlines())


def test_right_reasons_and_reaction_sizes_stand_beside_the_scores(
    field: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = {run["name"]: run for run in compared(capsys, field, "good", "noisy", "words")["runs"]}
    case = make_case(clips=CLIPS)
    right = int((np.abs(case.prediction - case.truth)[:, -1] < 0.1).sum())
    assert 0 < right < CLIPS
    # The claims are exact in all runs, in the last one by the text alone.
    for name in ("good", "words"):
        counts = {"right_grounded": right, "right_ungrounded": 0, "wrong_grounded": CLIPS - right}
        assert runs[name]["reasons"] == counts | {"wrong_ungrounded": 0}
    assert sum(runs["noisy"]["reasons"].values()) == CLIPS
    assert runs["noisy"]["reasons"]["right_grounded"] < right
    assert (runs["good"]["large_reaction"], runs["words"]["large_reaction"]) == (False, None)
    assert 0.3 < runs["good"]["reaction_size"] < 2.5
    assert runs["words"]["reaction_size"] is None


def test_a_large_reaction_is_marked() -> None:
    def row(name: str, size: float, *, large: bool) -> Standing:
        above = {other: 0.5 for other in ("gate", "honest") if other != name}
        beside: dict[str, Any] = {"reasons": None, "reaction_size": size, "large_reaction": large}
        return Standing(name, 1, 1, 50.0, None, 50.0, 1, 1.0, 1, 1.0, 1.0, {}, above=above, **beside)

    said = lines([row("gate", 3.716, large=True), row("honest", 1.26, large=False)], "practice", 10)
    assert ["3.72", "!", "gate"] in [line.split() for line in said]
    assert ["1.26", "honest"] in [line.split() for line in said]
    assert any(line.startswith("! Altering") for line in said)
    assert not any("grounded" in line for line in said)
    alone = lines([row("honest", 1.26, large=False)], "practice", 10)
    assert not any("!" in line for line in alone)


def refused(field: Path, capsys: pytest.CaptureFixture[str], *paths: Path, options: tuple[str, ...] = ()) -> str:
    assert main(["compare", *map(str, paths), "--bundle", str(field), *options]) == 1
    return capsys.readouterr().err


def changed(field: Path, folder: Path, **facts: object) -> Path:
    """Copy the good run with other facts in run.json."""
    shutil.copytree(field / "good" / "ingestion_output", folder)
    run = json.loads((folder / "run.json").read_text()) | facts
    (folder / "run.json").write_text(json.dumps(run))
    write_manifest(folder)
    return folder


def test_mistakes_are_told_all_at_once(field: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 cut off")
    said = refused(field, capsys, tmp_path / "empty", field / "good", tmp_path / "broken.zip", tmp_path / "nowhere")
    assert all(name in said for name in ("empty", "broken.zip", "nowhere"))
    assert "good:" not in said


def test_runs_of_two_phases_are_not_compared(field: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    other = changed(field, tmp_path / "other", task="final")
    assert "final, practice" in refused(field, capsys, other, field / "good")


def test_a_run_that_cannot_be_scored_is_named_with_its_reason(
    field: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    older = changed(field, tmp_path / "older", data_version="another-1")
    invalid = changed(field, tmp_path / "invalid", status="invalid")
    said = refused(field, capsys, older, field / "good", invalid)
    assert "older: " in said
    assert "version_mismatch" in said
    assert "invalid: " in said


def test_an_unknown_phase_is_named(field: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "expected one of practice" in refused(field, capsys, field / "good", options=("--reference", "finale"))


def test_names_are_as_long_as_they_must_be(tmp_path: Path) -> None:
    for path in ("a/run", "b/run", "c/other"):
        write_files(tmp_path / path, {"run.json": '{"task": "practice"}'})
    found = find_runs([tmp_path / "a/run", tmp_path / "b/run"], tmp_path)
    assert [run.name for run in found] == ["a/run", "b/run"]
    assert [run.name for run in find_runs([tmp_path / "a/run", tmp_path / "c/other"], tmp_path)] == ["run", "other"]
    write_files(tmp_path / "run.v2", {"run.json": '{"task": "practice"}'})
    write_files(tmp_path / "run.v3", {"run.json": '{"task": "practice"}'})
    zip_folder(tmp_path / "run.v3", tmp_path / "other.v3.zip")
    versions = [tmp_path / "run.v2", tmp_path / "other.v3.zip"]
    (tmp_path / "scratch").mkdir()
    assert [run.name for run in find_runs(versions, tmp_path / "scratch")] == ["run.v2", "other.v3"]
    twice = find_runs([tmp_path / "a/run", tmp_path / "a/run"], tmp_path)
    assert len({run.name for run in twice}) == 2


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"task": 3}', "[" * 100_000, "\x00"])
def test_odd_facts_are_no_traceback(tmp_path: Path, content: str) -> None:
    write_files(tmp_path / "run", {"run.json": content})
    with pytest.raises(BundleError, match="run"):
        find_runs([tmp_path / "run"], tmp_path)


def test_a_zip_of_too_many_files_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(tmp_path / "many.zip", "w") as archive:
        archive.writestr("run.json", '{"task": "practice"}')
        archive.writestr("empty", "")
    monkeypatch.setattr(runs, "MOST_FILES", 1)
    with pytest.raises(BundleError, match="expected at most 1 files, found 2"):
        find_runs([tmp_path / "many.zip"], tmp_path)
    assert not list(tmp_path.rglob("run.json"))


def test_a_zip_cannot_write_elsewhere(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as archive:
        archive.writestr("../../outside.txt", "x")
        archive.writestr("run.json", '{"task": "practice"}')
    scratch = tmp_path / "one" / "two"
    scratch.mkdir(parents=True)
    find_runs([tmp_path / "bad.zip"], scratch)
    assert not (tmp_path / "outside.txt").exists()
    assert not (tmp_path / "one" / "outside.txt").exists()
