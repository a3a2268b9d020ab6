"""Scores on their way to the board: what the worker sends, what the server keeps, and what is shown."""

import json
import math
from pathlib import Path
from typing import Literal

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bundle_tools.codabench.keys import Column
from bundle_tools.codabench.worker import RunFailed
from bundle_tools.codabench.worker.scores import NotSent, accepted, my_submissions, read_scores, row, store

Computation = Literal["avg", "avg_rank", "max", "min", "sum"]


def column(
    key: str,
    index: int,
    computation: Computation | None = None,
    sources: tuple[int, ...] = (),
    *,
    precision: int = 2,
    hidden: bool = False,
    ascending: bool = False,
) -> Column:
    sorting: Literal["asc", "desc"] = "asc" if ascending else "desc"
    return Column(key.upper(), key, index, sorting, precision, hidden, computation, list(sources))


AB = (column("a", 0), column("b", 1))


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (1, 1.0),
        (-0.5, -0.5),
        (True, 1.0),
        (False, 0.0),
        ("0.25", 0.25),
        (" 1e3 ", 1000.0),
        (0.123456789012345, 0.1234567890),
        (9_999_999_999, 9_999_999_999.0),
        (10_000_000_000, None),
        (-1e10, None),
        ("1e10", None),
        (10**400, None),
        (None, None),
        ("", None),
        ("x", None),
        ("NaN", None),
        ("Infinity", None),
        ([1], None),
        ({"a": 1}, None),
    ],
)
def test_what_the_server_keeps_of_one_value(value: object, stored: float | None) -> None:
    found = store({"a": value}, AB)
    assert found.values == ({} if stored is None else {"a": stored})
    assert (found.refused is None) == (stored is not None)


def test_columns_before_the_bad_one_stay() -> None:
    assert store({"b": 1, "a": "x", "c": 2}, AB).values == {"b": 1.0}
    assert store({"a": "x", "b": 1}, AB).values == {}


@pytest.mark.parametrize("content", [[1], "a: 1", 3, None, True])
def test_anything_but_an_object_stores_nothing(content: object) -> None:
    found = store(content, AB)
    assert found.values == {}
    assert found.refused is not None
    assert "expected one object" in found.refused
    assert accepted(content, AB, 0) == []


@pytest.mark.parametrize(
    ("computation", "value"), [("avg", 2.0), ("sum", 4.0), ("min", 1.0), ("max", 3.0), ("avg_rank", None)]
)
def test_computed_columns(computation: Computation, value: float | None) -> None:
    columns = (*AB, column("c", 2, computation, (0, 1)))
    scores = {"a": 1, "b": 3}
    assert store(scores, columns).values.get("c") == value
    assert "c" not in store(scores, columns, computed=False).values
    # The scores that are there, for lack of better.
    assert store({"b": 3}, columns).values.get("c") == (None if value is None else 3.0)


def test_scores_for_a_computed_column() -> None:
    columns = (*AB, column("c", 2, "sum", (0, 1)))
    first = store({"c": 9, "a": 1, "b": 1}, columns)
    assert first.refused is None
    assert first.values["c"] == 2.0
    last = store({"a": 1, "c": 9, "b": 1}, columns)
    assert last.refused is not None
    assert last.values == {"a": 1.0, "c": 1.0}


def test_a_computation_without_a_list_makes_every_row_empty() -> None:
    found = store({"a": 1, "b": 1}, (*AB, column("c", 2, "sum")))
    assert found.values == {}
    assert found.refused is not None


def test_what_is_accepted_without_a_word() -> None:
    columns = (*AB, column("c", 2, "sum", (0, 1)), column("d", 3))
    said = accepted({"x": 1, "b": "0.5", "c": 1, "d": True}, columns, 0)
    for part in (
        "a: missing; the leaderboard shows n/a. Without the primary score the row ranks first.",
        "x: not a column of the leaderboard; it is ignored.",
        "b: the text '0.5' is stored as a number.",
        "c: the platform computes this column",
        "d: True is stored as 1.",
    ):
        assert any(part in line for line in said), part
    assert len(said) == 5
    assert accepted({"a": 1, "b": 0.5}, AB, 0) == []
    assert "ranks first" not in accepted({"a": 1}, AB, 0)[0]
    assert "ranks first" not in accepted({"b": 1}, (column("a", 0, ascending=True), AB[1]), 0)[0]


@given(st.dictionaries(st.text(max_size=3), st.floats(-9e9, 9e9) | st.integers(-(10**9), 10**9)))
def test_numbers_of_columns_are_all_kept_and_nothing_else(scores: dict[str, float]) -> None:
    columns = tuple(column(key, index) for index, key in enumerate([*scores][::2])) or AB
    wanted = {key: value for key, value in scores.items() if key in {known.key for known in columns}}
    found = store(scores, columns)
    assert found.refused is None
    assert found.values == pytest.approx(wanted, abs=1e-10)
    assert bool(accepted(scores, columns, 0)) == (set(scores) != {known.key for known in columns})


def test_the_row_is_rounded_and_leaves_out_what_is_hidden() -> None:
    columns = (column("a", 0, hidden=True), column("bb", 1, precision=0), column("c", 2), column("d", 3, precision=10))
    assert row({"a": 0.125, "bb": 2.5, "d": 1e-7}, columns) == [
        "  BB    2.0",
        "  C     n/a",
        "  D   1e-07",
    ]
    assert row({"a": 0.125}, columns[:1]) == ["  A  0.12"]
    assert my_submissions({"a": 0.126, "bb": 2.5}, columns) == "0.13"
    assert my_submissions({"c": 3}, columns) == "3.00"
    assert my_submissions({}, columns) is None


def read(tmp_path: Path, **files: str) -> tuple[object, list[str]]:
    for name, text in files.items():
        (tmp_path / f"scores.{name}").write_text(text, encoding="utf-8")
    return read_scores(tmp_path)


def test_json_wins_over_text(tmp_path: Path) -> None:
    assert read(tmp_path, json='{"a": 1}', txt="a: 2") == ({"a": 1}, [])
    (tmp_path / "scores.json").unlink()
    content, notes = read_scores(tmp_path)
    assert content == {"a": 2}
    assert notes == ["scores.txt: read by a YAML loader that may run code. Write scores.json."]


def test_a_key_twice_is_told(tmp_path: Path) -> None:
    assert read(tmp_path, json='{"a": 1, "a": 2}') == (
        {"a": 2},
        ["scores.json: a appears twice; the last one counts."],
    )


@pytest.mark.parametrize(
    "files",
    [
        *({}, {"json": ""}, {"json": "{"}, {"json": "\ufeff{}"}, {"json": "'a': 1"}, {"txt": "a: [1"}),
        *({"json": "[" * 100_000}, {"txt": "!!python/object/apply:os.getcwd []"}),
    ],
)
def test_scores_that_cannot_be_read_fail(tmp_path: Path, files: dict[str, str]) -> None:
    with pytest.raises(RunFailed):
        read(tmp_path, **files)


@pytest.mark.parametrize(
    "files",
    [
        *({"json": '{"a": NaN}'}, {"json": '{"a": [-Infinity]}'}, {"json": '{"a": 1e999}'}, {"json": "NaN"}),
        *({"txt": "a: .nan"}, {"txt": "a: 2026-01-01"}, {"txt": "a: .inf"}),
    ],
)
def test_scores_that_cannot_be_sent_leave_the_status_finished(tmp_path: Path, files: dict[str, str]) -> None:
    with pytest.raises(NotSent):
        read(tmp_path, **files)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=5))
def test_only_finite_json_is_sent(tmp_path_factory: pytest.TempPathFactory, value: object) -> None:
    folder = tmp_path_factory.mktemp("scores")
    (folder / "scores.json").write_text(json.dumps({"a": value}), encoding="utf-8")
    odd = any(isinstance(part, float) and not math.isfinite(part) for part in _flat(value))
    if odd:
        with pytest.raises(NotSent):
            read_scores(folder)
    else:
        assert read_scores(folder) == ({"a": value}, [])


def test_keys_that_are_no_text_become_text(tmp_path: Path) -> None:
    assert read(tmp_path, txt=yaml.safe_dump({1: 2}))[0] == {"1": 2}


def _flat(value: object) -> list[object]:
    return [part for item in value for part in _flat(item)] if isinstance(value, list) else [value]
