"""Results instead of code: the files of 2017 and this challenge's own, through the whole program."""

import json
import pickle
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import cv2
import numpy as np
import pytest
import yaml

from ingest.clips.footage import read_footage
from ingest.clock import Clock
from ingest.errors import IngestionError, Problem, Stage
from ingest.legacy.aliases import names_of, read_aliases
from ingest.legacy.files import ResultFiles
from ingest.legacy.forms import read_form
from ingest.legacy.forms.answers import Answers, Unreadable
from ingest.legacy.forms.pictures import read_picture
from ingest.legacy.forms.records import read_records
from ingest.legacy.reader import ClipAnswer, ReadingFailed, Remarks, ResultsReader
from ingest.legacy.run import ResultsRun
from ingest.log import Log
from ingest.record.feedback import Feedback
from ingest.record.results import Results
from ingest.record.tally import Tally
from ingest.settings import Isolation, Limits, read_task
from model_process.protocol import Message
from model_process.sandbox import Held
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
    assert not (outcome.folder / "probes.jsonl").exists()
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
        read_form(form, tmp_path / "predictions", tmp_path / "explanations" if explanations else None)
    assert said in f"{caught.value.where}: {caught.value.found}"


def test_a_phase_of_code_refuses_results(submit: Submit) -> None:
    outcome = submit(of_2017(), SETTINGS)
    assert (outcome.exit_code, outcome.run_codes()) == (1, ["results_refused", "results_ignored"])


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
    told = outcome.printed + (outcome.folder / "run.json").read_text() + (outcome.folder / "log.txt").read_text()
    for word in (*NAMES, *NAMES.values(), "stranger", "high"):
        assert word not in told


def test_the_reading_process_is_held_in(submit: Submit) -> None:
    """What a phase requires of the walls around a model holds for it too."""
    outcome = submit(of_2017(), {**RESULTS, "isolation": {"require": "full", "at_most": "portable"}})
    assert (outcome.exit_code, outcome.run_codes()) == (2, ["isolation_too_weak"])


class Dying:
    """A reading process that ends with every entry but the first."""

    held, output, alive, starts, asked, waited_s = Held("full", 7), b"", False, 0, 0, 0.0
    refused: ClassVar[Counter[str]] = Counter()
    readable = 9  # how often the files can be read

    @property
    def process(self) -> "Dying":
        """Itself: it is asked, and looked at, in one."""
        return self

    def start(self) -> None:
        self.starts += 1
        self.alive = self.starts <= self.readable
        if not self.alive:
            raise ReadingFailed(Problem("results_unreadable", "load", "prediction.pkl", "x", "y", "z"))

    def stop(self) -> None:
        self.alive = False

    def ask(self, *_: object) -> ClipAnswer:
        self.asked += 1
        if self.asked == 1:
            return ClipAnswer({"warmth": 0.5, "interview": 0.5}, None, None)
        self.stop()
        raise ReadingFailed(Problem("result_unreadable", "predict", "predict", "x", "y", "z"))


def run_with(reader: object, phase: Path, folder: Path, limits: dict[str, Any]) -> tuple[Tally, list[dict[str, Any]]]:
    """Run over the three clips with another reading process; return the tally and the records of the clips."""
    settings = {**SETTINGS, "results": True, "limits": {**SETTINGS["limits"], **limits}}
    (folder / "task.yaml").write_text(yaml.safe_dump(settings))
    task = read_task(folder / "task.yaml")
    assert task.results
    clock, log, tally = Clock(), Log(folder / "log.txt"), Tally(total=3)
    clock.set_limit(600)
    files, records = ResultFiles("2017", "prediction.pkl", None), Results(folder, task.targets)
    feedback = Feedback(folder, ("warmth", "interview"), hidden=False)
    run = ResultsRun(task, files, folder, None, records, clock, log, tally, feedback)
    run._reader = reader  # type: ignore[assignment]
    run.run(read_footage(phase, task).clips, phase)
    return tally, [json.loads(line) for line in (folder / "clips.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(("restarts", "unreadable", "status"), [(0, 1, "partial"), (1, 2, "complete")])
def test_an_entry_that_ends_the_reading_process_costs_its_clip_and_a_restart(
    restarts: int, unreadable: int, status: str, phase: Path, tmp_path: Path
) -> None:
    tally, lines = run_with(Dying(), phase, tmp_path, {"restarts": restarts})
    assert [line["status"] for line in lines] == ["ok", "failed", "failed"]
    assert sum(bool(line["problems"]) for line in lines) == unreadable
    assert tally.status == status


@pytest.mark.parametrize(
    ("readable", "limits", "codes", "left"),
    [(1, {}, ["results_unreadable"], "failed"), (9, {"load_s": 900}, ["time_budget"], "not_reached")],
    ids=["cannot be read a second time", "no time to read them a second time"],
)
def test_files_that_cannot_be_read_a_second_time_leave_what_was_read(
    readable: int, limits: dict[str, Any], codes: list[str], left: str, phase: Path, tmp_path: Path
) -> None:
    reader = Dying()
    reader.readable = readable
    tally, lines = run_with(reader, phase, tmp_path, limits)
    assert [line["status"] for line in lines] == ["ok", "failed", left]
    assert (tally.status, [problem.code for problem in tally.problems]) == ("partial", codes)


@pytest.mark.parametrize(("check", "status"), [("check_prediction", "failed"), ("as_rgb", "ok")])
def test_an_error_of_ours_over_an_answer_costs_its_part_only(
    check: str, status: str, phase: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_: object) -> None:
        raise RuntimeError("SECRET")

    class Whole(Dying):
        def ask(self, *_: object) -> ClipAnswer:
            self.asked += 1
            explanation = {"text": TEXT, "image": None, "evidence": None}
            return ClipAnswer({"warmth": 0.25 * self.asked, "interview": 0.5}, explanation, None)

        def finish(self, _: float) -> Remarks:
            return Remarks(0, "", numbers_as_text=False)

    monkeypatch.setattr(f"ingest.legacy.run.{check}", breaks)
    _, lines = run_with(Whole(), phase, tmp_path, {})
    assert [line["status"] for line in lines] == [status] * 3
    assert [[problem["code"] for problem in line["problems"]] for line in lines] == [["check_failed"]] * 3
    assert "SECRET" not in (tmp_path / "clips.jsonl").read_text()


class Nesting:
    """A channel whose answers are nested deeper than Python can follow."""

    def send(self, order: dict[str, Any]) -> None:
        self.number = order["number"]

    def allow(self, timeout_s: float) -> None: ...

    def receive(self) -> Message:
        deep: list[Any] = []
        for _ in range(5000):
            deep = [deep]
        return Message({"op": "answer", "number": self.number, "prediction": deep}, b"", None)

    def end_badly(self, error: Exception, stage: Stage, where: str, _: float) -> Problem:
        return Problem("model_crashed", stage, where, str(error), "an answer", "z")


def test_an_answer_that_cannot_be_followed_costs_its_clip(tmp_path: Path) -> None:
    limits = Limits(time_limit_s=60, load_s=5, call_s=5, restarts=1)
    reader = ResultsReader(tmp_path, None, ResultFiles("2017", "prediction.pkl", None), limits, Isolation())
    reader.process = Nesting()  # type: ignore[assignment]
    with pytest.raises(ReadingFailed, match="RecursionError") as failed:
        reader.ask(["c000"], 5)
    assert failed.value.problem.code == "result_unreadable"


def test_an_error_of_ours_while_reading_names_only_its_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: object) -> dict[str, Any]:
        raise KeyError("SECRET")

    answers = Answers({"warmth": {"c000": 0.5}}, {"c000": TEXT}, breaks)
    assert answers.prediction(["c000"]) == {"warmth": 0.5}
    with pytest.raises(Unreadable, match=r"^explanation: KeyError$"):
        answers.explanation(["c000"])
    monkeypatch.setattr("ingest.legacy.forms.read_records", breaks)
    with pytest.raises(Unreadable, match=r"^predictions\.csv: KeyError$"):
        read_form("records", tmp_path / "predictions.csv", None)


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
        read_aliases(path, {"c1", "c2"})
    assert [problem.code for problem in error.value.problems] == ["clip_twice", "clip_unknown"]
    path.write_text("clip_id,name\nc1,a.mp4\n")
    assert read_aliases(path, {"c1", "c2"}) == {"c1": "a.mp4"}
    assert names_of("c1", {"c1": "a.mp4"})[:2] == ["a.mp4", "a"]
    assert set(names_of("c2", {})) == {"c2", "c2.mp4"}


def jpeg(height: int, width: int) -> bytes:
    """A small picture whose header claims another size."""
    data = bytearray(cv2.imencode(".jpg", np.zeros((8, 8, 3), np.uint8))[1].tobytes())
    place = data.index(b"\xff\xc0")
    data[place + 5 : place + 9] = height.to_bytes(2, "big") + width.to_bytes(2, "big")
    return bytes(data)


@pytest.mark.parametrize("data", [b"", b"\xff\xd8", b"\x89PNG....", jpeg(60_000, 60_000), jpeg(8, 8)[:200] + b"x" * 9])
def test_pictures_that_are_not_decoded(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.jpg"
    path.write_bytes(data)
    with pytest.raises(Unreadable):
        read_picture(path)


def test_a_picture_is_rgb(tmp_path: Path) -> None:
    path = tmp_path / "x.jpg"
    path.write_bytes(cv2.imencode(".jpg", np.full((10, 20, 3), (0, 0, 255), np.uint8))[1].tobytes())
    assert read_picture(path).shape == (10, 20, 3)
    assert read_picture(path)[5, 5, 0] > 200


def test_evidence_of_records_keeps_its_numbers(tmp_path: Path) -> None:
    (tmp_path / "predictions.csv").write_text("clip_id,warmth\nc1,0.1\n")
    record = {"clip_id": "c1", "text": "x", "image": "../secret.jpg", "evidence": {"time": {"weights": [1, 2]}}}
    (tmp_path / "explanations.jsonl").write_text(json.dumps(record))
    answers = read_records(tmp_path / "predictions.csv", tmp_path / "explanations.jsonl")
    assert answers.prediction(["c1"]) == {"warmth": 0.1}
    assert answers.explanation(["c1"]) == {"text": "x", "image": "../secret.jpg", "evidence": {"time": [1, 2]}}
    assert answers.explanation(["c2"]) == {}
