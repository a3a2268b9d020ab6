"""From scores and pages to what Codabench shows: what the worker sends, what the server keeps, which page it takes."""

import json
import math
from pathlib import Path
from typing import Literal

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bundle_tools.codabench.keys import BoardColumn
from bundle_tools.codabench.worker import RunFailed
from bundle_tools.codabench.worker.scores import NotSent, read_scores, row_lines, silently_accepted, store
from bundle_tools.codabench.worker.verdict import find_report
from tests.tiny import write_files

Computation = Literal["avg", "avg_rank", "max", "min", "sum"]


def column(
    key: str, index: int, computation: Computation | None = None, *, precision: int = 2, hidden: bool = False,
    sorting: Literal["asc", "desc"] = "desc",
) -> BoardColumn:  # fmt: skip
    """Make a column; a computed one uses the first two."""
    return BoardColumn(
        title=key.upper(), key=key, index=index, sorting=sorting, precision=precision, hidden=hidden,
        computation=computation, computation_indexes=[0, 1] if computation else [],
    )  # fmt: skip


AB = (column("a", 0), column("b", 1))
VALUES: list[tuple[object, float | None]] = [
    (1, 1.0), (-0.5, -0.5), (True, 1.0), ("0.25", 0.25), (" 1e3 ", 1000.0), (0.123456789012345, 0.1234567890),
    (9_999_999_999, 9_999_999_999.0), (10_000_000_000, None), (-1e10, None), ("1e10", None), (10**400, None),
    (None, None), ("", None), ("x", None), ("NaN", None), ("Infinity", None), ([1], None), ({"a": 1}, None),
]  # fmt: skip


@pytest.mark.parametrize(("value", "stored"), VALUES)
def test_what_the_server_keeps_of_one_value(value: object, stored: float | None) -> None:
    values, refused = store({"a": value}, AB)
    assert values == ({} if stored is None else {"a": stored})
    assert (refused is None) == (stored is not None)


def test_columns_before_the_bad_one_stay() -> None:
    assert store({"b": 1, "a": "x", "c": 2}, AB)[0] == {"b": 1.0}
    assert store({"a": "x", "b": 1}, AB)[0] == {}
    for content in ([1], "a: 1", 3, None, True):
        values, refused = store(content, AB)
        assert values == {}
        assert "expected one object" in str(refused)
        assert silently_accepted(content, AB, 0) == []


@pytest.mark.parametrize(
    ("computation", "value"), [("avg", 2.0), ("sum", 4.0), ("min", 1.0), ("max", 3.0), ("avg_rank", None)]
)
def test_computed_columns(computation: Computation, value: float | None) -> None:
    columns = (*AB, column("c", 2, computation))
    assert store({"a": 1, "b": 3}, columns)[0].get("c") == value
    assert "c" not in store({"a": 1, "b": 3}, columns, computed=False)[0]
    # The scores that are there, for lack of better.
    assert store({"b": 3}, columns)[0].get("c") == (None if value is None else 3.0)
    values, refused = store({"a": 1, "c": 9, "b": 1}, columns)
    assert "the platform computes this column" in str(refused)
    assert "b" not in values


def test_what_is_accepted_without_a_word() -> None:
    columns = (*AB, column("c", 2, "sum"), column("d", 3))
    assert silently_accepted({"x": 1, "b": "0.5", "d": True}, columns, 0) == [
        "a: missing; the leaderboard shows n/a. "
        "The row ranks first without it, and under Force_Best replaces a good one.",
        "x: not a column of the leaderboard; it is ignored.",
        "b: '0.5' is stored as the number 0.5.",
        "d: True is stored as the number 1.",
    ]
    assert "ranks first" not in silently_accepted({"a": 1}, AB, 0)[0]
    assert "ranks first" not in silently_accepted({"b": 1}, (column("a", 0, sorting="asc"), AB[1]), 0)[0]


@given(
    st.dictionaries(
        st.text("abc .é", min_size=1, max_size=3).filter(str.strip), st.floats(-9e9, 9e9) | st.integers(-(10**9), 10**9)
    )
)
def test_numbers_of_columns_are_all_kept_and_nothing_else(scores: dict[str, float]) -> None:
    columns = tuple(column(key, index) for index, key in enumerate([*scores][::2])) or AB
    keys = {known.key for known in columns}
    values, refused = store(scores, columns)
    assert refused is None
    assert values == pytest.approx({key: value for key, value in scores.items() if key in keys}, abs=1e-10)
    assert bool(silently_accepted(scores, columns, 0)) == (set(scores) != keys)


def test_the_row_is_rounded_and_leaves_out_what_is_hidden() -> None:
    columns = (column("a", 0, hidden=True), column("bb", 1, precision=0), column("c", 2), column("d", 3, precision=10))
    lines = row_lines({"a": 0.125, "bb": 2.5, "d": 1e-7}, columns)
    assert lines == ["  BB    2.0", "  C     n/a", "  D   1e-07"]
    assert row_lines({"a": 0.125}, columns[:1]) == ["  A  0.12"]


def read(folder: Path, **files: str) -> tuple[object, list[str]]:
    for name, text in files.items():
        (folder / f"scores.{name}").write_text(text, encoding="utf-8")
    return read_scores(folder)


def test_json_wins_over_text(tmp_path: Path) -> None:
    assert read(tmp_path, json='{"a": 1}', txt="a: 2") == ({"a": 1}, [])
    (tmp_path / "scores.json").unlink()
    content, notes = read(tmp_path, txt=yaml.safe_dump({1: 2}))
    assert content == {"1": 2}  # keys become text
    assert notes == ["scores.txt: read by a YAML loader that may run code. Write scores.json."]


@pytest.mark.parametrize(
    "files",
    [
        *({}, {"json": ""}, {"json": "{"}, {"json": "\ufeff{}"}, {"json": "'a': 1"}, {"txt": "a: [1"}),
        *({"json": "[" * 100_000}, {"txt": "!!python/object/apply:os.getcwd []"}, {"txt": "x: 1" + ":59" * 20_000}),
    ],
)
def test_scores_that_cannot_be_read_fail(tmp_path: Path, files: dict[str, str]) -> None:
    with pytest.raises(RunFailed):
        read(tmp_path, **files)


@pytest.mark.parametrize("text", ["a: .nan", "a: 2026-01-01", "a: [.inf]", ".nan"])
def test_scores_that_cannot_be_sent_leave_the_status_finished(tmp_path: Path, text: str) -> None:
    with pytest.raises(NotSent):
        read(tmp_path, txt=text)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=5))
def test_only_finite_json_is_sent(tmp_path_factory: pytest.TempPathFactory, value: object) -> None:
    folder = tmp_path_factory.mktemp("scores")
    (folder / "scores.json").write_text(json.dumps({"a": value}), encoding="utf-8")
    if any(isinstance(part, float) and not math.isfinite(part) for part in _flat(value)):
        with pytest.raises(NotSent):
            read_scores(folder)
    else:
        assert read_scores(folder) == ({"a": value}, [])


def _flat(value: object) -> list[object]:
    return [part for item in value for part in _flat(item)] if isinstance(value, list) else [value]


@pytest.mark.parametrize(
    ("pages", "chosen", "note"),
    [
        # Many, because the order of the file system might favour it by chance.
        ([*(f"{n}.html" for n in range(100)), "detailed_results.html", "deep/z.html"], "detailed_results.html",
         "detailed_results.html: shown; 100 other pages are not."),
        (["a.html", "deep/z.html"], "a.html", "a.html: shown because there is no detailed_results.html."),
        (["b.html", "a.html"], "", "of 2 pages any one may be shown"),
        ([], None, "detailed_results.html: not written"),
    ],
)  # fmt: skip
def test_a_page_at_the_root_is_the_report(tmp_path: Path, pages: list[str], chosen: str | None, note: str) -> None:
    page, notes = find_report(write_files(tmp_path, dict.fromkeys(pages, "x")), enabled=True)
    assert page is None if chosen is None else page is not None and page.parent == tmp_path
    assert not chosen or page == tmp_path / chosen
    assert note in notes[0]
    page, notes = find_report(tmp_path, enabled=False)
    assert page is None
    assert all("enable_detailed_results is off" in note for note in notes)
    assert len(notes) == bool(pages)


LOADING = [
    *("<img src=pictures/a.png>", "<script src='https://example.org/x.js'></script>", "<video poster=a.png>"),
    *("<link rel=stylesheet href=style.css>", "<img srcset='a.png 2x'>", "<object data='a.svg'></object>"),
    *("<svg><use href='icons.svg#a'/></svg>", "<style>body { background: url(a.png) }</style>"),
    *("<style>@import 'a.css';</style>", "<p style=\"background: url('a.png')\">"),
]
WHOLE = [
    "<img src='data:image/png;base64,AA=='>",
    "<style>a { background: url(data:image/png;base64,AA==) }</style><p>url(a.png) and src=a.png as text</p>",
    "<a href='#clip'>clip</a><svg><use href='#a'/></svg>",
    "<p>&lt;img src=a.png&gt;</p>",
    "<script>const src = 'a';</script>",
]


@pytest.mark.parametrize(
    ("page", "note"),
    [
        *((page, "not self-contained") for page in LOADING),
        *((page, None) for page in WHOLE),
        ("<a href=https://example.org>", "do not work in the platform's frame: https://example.org."),
        ("", "empty; its upload can hang"),
    ],
)
def test_what_does_not_work_on_a_page_is_told(tmp_path: Path, page: str, note: str | None) -> None:
    _, notes = find_report(write_files(tmp_path, {"detailed_results.html": page}), enabled=True)
    assert len(notes) == (note is not None)
    assert note is None or note in notes[0]
