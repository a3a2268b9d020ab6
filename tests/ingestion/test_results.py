"""Results instead of code: the files of 2017 and this challenge's own, through the whole program."""

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import cv2
import numpy as np
import pytest
import yaml

from ingest.errors import IngestionError, Problem
from ingest.media.alteration import ClipSource
from ingest.media.video import ClipFacts
from ingest.model import CallFailed, LoadFailed
from ingest.results import ResultsReader, older_names
from ingest.settings import read_task
from model_process.protocol import ChannelClosed
from model_process.results import SubmittedResults, Unreadable, names_of, read_picture
from tests.ingestion.conftest import SETTINGS, Outcome, model_source, run_program

Submit = Callable[..., Outcome]

NAMES = {"c000": "-J4GQm9j0J.003.mp4", "c001": "XY4GQm9j0JZ.000.mp4", "c002": "ZZ4GQm9j0JZ.001.mp4"}
RESULTS = {**SETTINGS, "results": True, "aliases": "aliases.csv", "target_aliases": {"coldness": "warmth"}}
TEXT = "She speaks fast and looks into the camera."
PICTURE = np.zeros((200, 355, 3), np.uint8) + np.array([200, 30, 10], np.uint8)


def numbers(**changed: Any) -> dict[str, dict[str, Any]]:  # noqa: ANN401
    values = {name: np.float64(0.25 * number) for number, name in enumerate(NAMES.values(), 1)}
    return {"coldness": dict(values), "interview": {**values, **changed}}


def explanations() -> dict[str, Any]:
    return {name: (TEXT, PICTURE if number else None) for number, name in enumerate(NAMES.values())}


def pixel(outcome: Outcome) -> Any:  # noqa: ANN401
    """A pixel of a recorded picture, RGB."""
    return read_picture(outcome.folder / "images" / "c001.jpg")[100, 100].astype(int)


def settings_with(folder: Path, source: Path, settings: dict[str, Any]) -> Path:
    """A phase with other settings over the same clips."""
    for path in source.iterdir():
        (folder / path.name).symlink_to(path)
    (folder / "task.yaml").unlink()
    (folder / "task.yaml").write_text(yaml.safe_dump(settings))
    (folder / "aliases.csv").write_text("clip_id,name\n" + "".join(f"{a},{b}\n" for a, b in NAMES.items()))
    return folder


@pytest.fixture
def submit(phase: Path, tmp_path: Path) -> Submit:
    """Submit files on the three clips."""

    def run(files: dict[str, bytes], settings: dict[str, Any] = RESULTS) -> Outcome:
        for name in ("input", "submission"):
            (tmp_path / name).mkdir()
        for name, content in files.items():
            (tmp_path / "submission" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "submission" / name).write_bytes(content)
        given = settings_with(tmp_path / "input", phase, settings)
        return run_program(given, tmp_path / "submission", tmp_path / "output")

    return run


def of_2017() -> dict[str, bytes]:
    return {
        "metadata.txt": b"team: nobody",
        "prediction.pkl": pickle.dumps(numbers(), 2),
        "description.pkl": pickle.dumps(explanations(), 2),
        "video.mp4": b"whatever",
    }


def test_files_of_2017_become_records(submit: Submit) -> None:
    outcome = submit(of_2017())
    assert outcome.exit_code == 0, outcome.printed
    run = outcome.json("run.json")
    assert run["results"] is True
    assert (run["status"], run["clips"]["ok"], run["determinism"], run["probes"]) == ("complete", 3, None, None)
    assert [(row["warmth"], row["interview"]) for row in outcome.predictions().values()] == [
        ("0.25", "0.25"), ("0.5", "0.5"), ("0.75", "0.75"),
    ]  # fmt: skip
    lines = outcome.lines("explanations.jsonl")
    assert {line["text"] for line in lines} == {TEXT}
    assert [line["image"] for line in lines] == [None, "images/c001.jpg", "images/c002.jpg"]
    assert np.abs(pixel(outcome) - PICTURE[0, 0]).max() < 8
    assert outcome.run_codes() == ["target_renamed", "picture_order"]
    assert not any((outcome.folder / f"{name}.jsonl").exists() for name in ("probes", "repeats"))
    assert "whatever" not in outcome.printed


def test_what_is_odd_about_results_costs_only_its_clip(submit: Submit) -> None:
    first, second, third = NAMES.values()
    table, texts = numbers(**{first: "0.75", second: "high"}), explanations()
    del table["coldness"][third], table["interview"][third]
    table["interview"]["stranger.mp4"] = 0.5
    texts[first] = [TEXT, PICTURE[:, :, 0]]
    files = {
        "metadata.txt": b"Pictures: BGR\n",
        "predictions.pkl": pickle.dumps(table, 0),
        "description.pkl": pickle.dumps(texts, 0),
    }
    outcome = submit(files)
    assert outcome.exit_code == 0, outcome.printed
    assert [line["status"] for line in outcome.lines("clips.jsonl")] == ["ok", "failed", "failed"]
    assert outcome.clip_codes(0) == ["image_grey", "image_flat"]
    assert outcome.clip_codes(1) == ["target_type"]
    assert outcome.clip_codes(2) == ["result_missing"]
    assert outcome.predictions()["c000"]["interview"] == "0.75"
    assert outcome.run_codes() == ["target_renamed", "results_unknown", "numbers_as_text"]
    assert "stranger.mp4" in outcome.printed


def test_bgr_that_is_stated_is_turned_round(submit: Submit) -> None:
    outcome = submit({**of_2017(), "metadata.txt": b"team: x\r\npictures: bgr\r\n"})
    assert np.abs(pixel(outcome) - PICTURE[0, 0, ::-1]).max() < 8
    assert outcome.run_codes() == ["target_renamed"]


def test_own_records_come_back_as_they_were(submit: Submit, ingest: Callable[..., Outcome]) -> None:
    explained = model_source().replace(
        '"A text that is long enough to count."',
        '"A text that is long enough to count.", "image": __import__("numpy").full((200, 355, 3), 90, "uint8"), '
        '"evidence": {"space": [[0, 1], [2, 3]], "time": [[0, 1, 1.0]], '
        '"cues": [{"cue": "smile", "target": "warmth", "contribution": 0.5}]}',
    )
    first = ingest(explained)
    files = {name: (first.folder / name).read_bytes() for name in ("predictions.csv", "explanations.jsonl")}
    files |= {f"images/{path.name}": path.read_bytes() for path in (first.folder / "images").iterdir()}
    kept = {name: content for name, content in files.items() if not name.startswith("images/")}
    for path in (first.folder, first.folder.parent / "submission"):
        path.rename(path.with_name(f"first {path.name}"))
    second = submit(files, {**SETTINGS, "results": True})
    assert second.exit_code == 0, second.printed
    assert {name: (second.folder / name).read_bytes() for name in kept} == kept
    assert second.run_codes() == ["answers_equal"]
    assert (second.folder / "images" / "c002.jpg").stat().st_size > 500


REFUSED: dict[str, tuple[dict[str, bytes], str, str]] = {
    # The whole way, for each step that refuses.
    "code in it": (
        {"prediction.pkl": b"cos\nsystem\n(S'true'\ntR."}, "results_unreadable", "the name os.system",
    ),
    "two files": (
        {"prediction.pkl": pickle.dumps(numbers()), "predictions.csv": b"clip_id,warmth,interview\n"},
        "results_ambiguous", "prediction.pkl, predictions.csv",
    ),
    "no JSON": (
        {"predictions.csv": b"clip_id,warmth,interview\nc000,1,1\n", "explanations.jsonl": b"{\n"},
        "results_unreadable", "explanations.jsonl line 1",
    ),
    "nobody's clips": (
        {"prediction.pkl": pickle.dumps({"warmth": {"x": 0.5}, "interview": {"x": 0.5}})},
        "every_clip_failed", "result_missing",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_results_that_cannot_be_judged_say_why(name: str, submit: Submit) -> None:
    files, code, said = REFUSED[name]
    outcome = submit(files)
    assert outcome.exit_code == 1, outcome.printed
    assert code in outcome.run_codes()
    assert said in outcome.printed


def opened(folder: Path, form: str, predictions: str, explanations: str | None) -> SubmittedResults:
    return SubmittedResults(folder, form=form, predictions=predictions, explanations=explanations, clips={}, targets={})


UNREADABLE: dict[str, tuple[str, bytes, bytes | None, str]] = {
    "not a dict": ("2017", pickle.dumps([1, 2]), None, "predictions: list"),
    "no table": ("2017", pickle.dumps({"warmth": 0.5}), None, "predictions: float for 'warmth'"),
    "bad description": ("2017", pickle.dumps(numbers()), b"\x80\x04\x95", "explanations: "),
    "header": ("records", b"name,warmth\n", None, "predictions: the header name,warmth"),
    "row twice": ("records", b"clip_id,warmth\nc000,1\nc000,1\n", None, "row 3"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_files_that_are_not_what_their_form_says(name: str, tmp_path: Path) -> None:
    form, predictions, explanations, said = UNREADABLE[name]
    (tmp_path / "predictions").write_bytes(predictions)
    (tmp_path / "explanations").write_bytes(explanations or b"")
    with pytest.raises(Unreadable) as caught:
        opened(tmp_path, form, "predictions", "explanations" if explanations else None)
    assert said in str(caught.value)


def test_a_phase_of_code_refuses_results(submit: Submit) -> None:
    outcome = submit(of_2017(), SETTINGS)
    assert (outcome.exit_code, outcome.run_codes()) == (1, ["results_refused"])


def test_a_model_wins_over_results_beside_it(submit: Submit) -> None:
    outcome = submit({**of_2017(), "model.py": model_source().encode()})
    assert outcome.run_codes()[0] == "results_ignored"
    assert outcome.json("run.json")["results"] is False


def test_a_closed_phase_names_no_clip(submit: Submit) -> None:
    first, second, _ = NAMES.values()
    table = numbers(**{first: "high"})
    del table["interview"][second]
    table["interview"]["stranger.mp4"] = 0.5
    outcome = submit({"prediction.pkl": pickle.dumps(table)}, {**RESULTS, "feedback": {"model_output": False}})
    assert outcome.exit_code == 0, outcome.printed
    assert outcome.run_codes() == ["target_renamed", "results_unknown", "results_unexplained"]
    assert outcome.clip_codes(2) == []
    told = outcome.printed + (outcome.folder / "run.json").read_text() + (outcome.folder / "log.txt").read_text()
    for word in (*NAMES, *NAMES.values(), "stranger", "high"):
        assert word not in told


def test_the_reading_process_is_held_in(submit: Submit) -> None:
    """What a phase requires of the sandbox around a model holds for it too."""
    outcome = submit(of_2017(), {**RESULTS, "isolation": {"require": "full", "at_most": "portable"}})
    assert (outcome.exit_code, outcome.run_codes()) == (2, ["isolation_too_weak"])


def test_files_that_end_the_reading_process_are_unreadable(phase: Path, tmp_path: Path) -> None:
    task = read_task(phase / "task.yaml")
    (tmp_path / "prediction.pkl").touch()
    reader = ResultsReader(tmp_path, None, task, {"c000": None})
    ended = Problem("crashed", "load", "model.py", "a sudden end", "y", "z")
    reader.process = Mock(killed=False, **{"receive.side_effect": ChannelClosed, "end_badly.return_value": ended})
    with pytest.raises(LoadFailed, match=r"results_unreadable · prediction\.pkl · found a sudden end"):
        reader.start(5)
    facts = ClipFacts(1.0, 25.0, 64, 64, np.zeros(25), audible=True)
    with pytest.raises(CallFailed, match="result_unreadable · predict · found a sudden end"):
        reader.predict(ClipSource("c000", tmp_path, ""), facts, 3)


@pytest.mark.parametrize(
    ("changed", "key"),
    [
        ({"results": "yes please"}, "results"),
        ({"target_aliases": {"coldness": "nothing"}}, "target_aliases"),
        ({"target_aliases": {"warmth": "interview"}}, "target_aliases"),
        ({"target_aliases": {"a": "warmth", "b": "warmth"}}, "target_aliases"),
        ({"target_aliases": ["warmth"]}, "target_aliases"),
        ({"aliases": 3}, "aliases"),
    ],
)
def test_settings_of_results(changed: dict[str, Any], key: str, tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text(yaml.safe_dump({**RESULTS, **changed}))
    with pytest.raises(IngestionError) as error:
        read_task(tmp_path / "task.yaml")
    assert [problem.where for problem in error.value.problems] == [f"task.yaml, key {key}"]


def test_aliases_are_names_of_clips(tmp_path: Path) -> None:
    path = tmp_path / "aliases.csv"
    path.write_text("clip_id,name\nc1,a.mp4\nc2,a.mp4\nc9,b.mp4\n")
    with pytest.raises(IngestionError) as error:
        older_names(path, ["c1", "c2"])
    assert [problem.code for problem in error.value.problems] == ["clip_twice", "clip_unknown"]
    path.write_text("clip_id,name\nc1,a.mp4\n")
    assert older_names(path, ["c1", "c2"]) == {"c1": "a.mp4", "c2": None}
    assert names_of("c1", "a.mp4")[:2] == ["a.mp4", "a"]
    assert set(names_of("c2", None)) == {"c2", "c2.mp4"}


@pytest.mark.parametrize("data", [b"", b"\xff\xd8", cv2.imencode(".png", PICTURE)[1].tobytes()])
def test_pictures_that_are_not_decoded(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.jpg"
    path.write_bytes(data)
    with pytest.raises(Unreadable):
        read_picture(path)


def test_a_picture_that_is_huge_inside_costs_its_explanation(submit: Submit) -> None:
    picture = cv2.imencode(".jpg", np.zeros((2100, 2100, 3), np.uint8))[1].tobytes()
    record = {"clip_id": "c000", "text": TEXT, "image": "images/c000.jpg"}
    files = {
        "predictions.csv": b"clip_id,warmth,interview\nc000,0.5,0.5\n",
        "explanations.jsonl": json.dumps(record).encode(),
        "images/c000.jpg": picture,
    }
    outcome = submit(files, {**SETTINGS, "results": True})
    assert outcome.clip_codes(0) == ["result_unreadable"]
    assert outcome.lines("clips.jsonl")[0]["status"] == "ok"


def test_evidence_of_records_keeps_its_numbers(tmp_path: Path) -> None:
    (tmp_path / "predictions.csv").write_text("clip_id,warmth\nc1,0.1\n")
    record = {"clip_id": "c1", "text": "x", "image": "../secret.jpg", "evidence": {"time": {"weights": [1, 2]}}}
    (tmp_path / "explanations.jsonl").write_text(json.dumps(record))
    results = opened(tmp_path, "records", "predictions.csv", "explanations.jsonl")
    assert results.predict("c1") == {"warmth": 0.1}
    assert results.explain("c1") == {"text": "x", "image": "../secret.jpg", "evidence": {"time": [1, 2]}}
    assert results.explain("c2") == {}
