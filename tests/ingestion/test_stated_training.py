"""`training.json`: what is right is recorded, what is wrong is named, all at once, and costs nothing."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ingest.submission import LARGEST_FILE, TRAINING, read_training
from tests import ROOT
from tests.ingestion.conftest import TARGETS, Outcome, follows, model_source

GOOD: dict[str, Any] = {
    "format_version": 1,
    "clips": 30,
    "people": 10,
    "folds": 5,
    "grouped_by": "source_id",
    "error": {"warmth": 0.25, "interview": 1e-05},
}


def write(folder: Path, content: object) -> Path:
    (folder / TRAINING).write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return folder


def test_what_is_stated_is_read(tmp_path: Path) -> None:
    assert read_training(tmp_path, TARGETS) == (None, [])
    training, problems = read_training(write(tmp_path, GOOD), TARGETS)
    assert training is not None
    assert {**vars(training)} == GOOD
    assert problems == []


@pytest.mark.parametrize("solution", ["cue_reader", "network"])
def test_the_examples_state_theirs(solution: str) -> None:
    labels = (ROOT / "public_data/labels.csv").read_text("utf-8").partition("\n")[0].split(",")[2:]
    training, problems = read_training(ROOT / "solutions" / solution, labels)
    assert problems == []
    assert training is not None
    assert (training.clips, training.folds) == (240, 5)


@pytest.mark.parametrize(
    ("content", "keys"),
    [
        (GOOD | {"people": 1, "error": {"warmth": -1}, "more": 1}, {"people", "error.warmth", "more"}),
        (GOOD | {"people": 3}, {"folds"}),
        (GOOD | {"people": 31}, {"people"}),
        (GOOD | {"error": {"warmth": 0.1}}, {"error"}),
        (GOOD | {"error": {"warmth": 0.1, "interview": True}}, {"error.interview"}),
        (GOOD | {"format_version": 2, "grouped_by": "a\nb"}, {"format_version", "grouped_by"}),
        ({}, {*GOOD}),
        ([], {""}),
        (
            b'{"error": {"warmth": NaN, "interview": Infinity}}',
            {*GOOD} - {"error"} | {"error.warmth", "error.interview"},
        ),
        (b"{", {""}),
        (b"\xff\xfe", {""}),
        (b"[" * 10_000, {""}),
        (b'{"format_version": &a 1}', {""}),
        (json.dumps(GOOD).encode() + b" " * LARGEST_FILE, {""}),
        (b'{"clips": ' + b"9" * 5000 + b"}", {""}),
    ],
)
def test_mistakes_are_named_all_at_once(content: object, keys: set[str], tmp_path: Path) -> None:
    training, problems = read_training(write(tmp_path, content), TARGETS)
    assert training is None
    assert {problem.where.removeprefix(TRAINING).strip() for problem in problems} == keys
    assert {(problem.code, problem.severity, problem.fault) for problem in problems} == {
        ("training_broken", "warning", "participant")
    }
    assert all(len(problem.line()) < 500 for problem in problems)


def test_a_link_is_no_statement(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / TRAINING).symlink_to(write(tmp_path, GOOD) / TRAINING)
    assert read_training(other, TARGETS) == (None, [])


@pytest.mark.parametrize("change", [{}, {"people": "ten"}, None])
def test_the_record_holds_it_only_where_it_is_stated_well(
    ingest: Callable[..., Outcome], change: dict[str, Any] | None
) -> None:
    stated = None if change is None else GOOD | {"error": {"warmth": 0.1, "interview": 0.2}} | change
    outcome = ingest(model_source(), files={} if stated is None else {TRAINING: json.dumps(stated)})
    assert outcome.exit_code == 0
    record = outcome.json("run.json")
    follows("run.json")(record)
    assert record.get("training") == (stated if change == {} else None)
    assert ("training" in record) == (change == {})
    assert ("training_broken" in outcome.run_codes()) == bool(change)
    assert record["clips"]["ok"] == record["clips"]["total"]
