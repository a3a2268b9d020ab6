"""Files of jurors: whatever is wrong with any of them is said at once, with its file."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bundle_tools.challenge.jury.criteria import DEFAULT, read_key, read_rules, write_key
from bundle_tools.challenge.jury.panel import read_answers
from bundle_tools.errors import BundleError
from tests.challenge.jury.juries import RULES, answers_of, honest, make_key, write_ratings

KEY = make_key(teams=2, clips=3, jurors=2)
RATE = honest({"A": 3.0, "B": 2.0})


def whole(path: Path, juror: int = 1, **changes: Any) -> Path:  # noqa: ANN401 - any field
    return write_ratings(path, KEY, juror, answers_of(KEY, juror, RATE), **changes)


def edited(path: Path, edit: Callable[[dict[str, Any]], object]) -> Path:
    answers = answers_of(KEY, 1, RATE)
    edit(answers)
    return write_ratings(path, KEY, 1, answers)


def changed_afterwards(path: Path) -> Path:
    outer = json.loads(whole(path).read_text())
    outer["payload"] = outer["payload"].replace('"clarity": ', '"clarity":  ', 1)
    path.write_text(json.dumps(outer))
    return path


def cut_off(path: Path) -> Path:
    data = whole(path).read_bytes()
    path.write_bytes(data[: len(data) // 2])
    return path


def pipe(path: Path) -> Path:
    """Whoever reads it waits for ever."""
    os.mkfifo(path)
    return path


LONE = {"format_version": 1, "sha256": "", "payload": '{"sheet": "\ud800", "design": "", "answers": {}}'}
BROKEN: dict[str, tuple[Callable[[Path], Path], str]] = {
    "edited": (changed_afterwards, "changed after it was saved"),
    "truncated": (cut_off, "cut off"),
    "empty": (lambda path: (path.write_bytes(b""), path)[1], "cut off"),
    "no JSON": (lambda path: (path.write_text("ratings"), path)[1], "cut off"),
    "a list": (lambda path: (path.write_text("[]"), path)[1], "cut off"),
    "another release": (lambda path: whole(path, format_version=2), "format_version 2, expected 1"),
    "a long release": (lambda path: whole(path, format_version="a" * 10**6), f"'{39 * 'a'}, expected 1"),
    "another jury": (lambda path: whole(path, inner={"sheet": "sheet9"}), "another jury"),
    "another design": (lambda path: whole(path, inner={"design": "0" * 64}), "another jury"),
    "no answers": (lambda path: whole(path, inner={"answers": []}), "expected answers by item"),
    "unknown item": (lambda path: edited(path, lambda a: a.update(x={})), "item x: not on any sheet"),
    "rating too high": (lambda path: edited(path, lambda a: a["g-A-c00"]["ratings"].update(clarity=6)), "from 0 to 5"),
    "rating a bool": (lambda path: edited(path, lambda a: a["g-A-c00"]["ratings"].update(clarity=True)), "from 0 to 5"),
    "half a rating": (lambda path: edited(path, lambda a: a["g-A-c00"]["ratings"].update(clarity=2.5)), "from 0 to 5"),
    "odd criterion": (
        lambda path: edited(path, lambda a: a["g-A-c00"]["ratings"].update(beauty=1)),
        "one per criterion",
    ),
    "long remark": (lambda path: edited(path, lambda a: a["g-A-c00"].update(remark="x" * 5000)), "remark: expected"),
    "unfinished": (lambda path: edited(path, lambda a: a.pop("g-A-c00")), "1 of 10 items have no answer"),
    "half an answer": (lambda path: edited(path, lambda a: a["g-A-c01"]["ratings"].pop("clarity")), "1 of 10 items"),
    "half a character": (lambda path: (path.write_text(json.dumps(LONE)), path)[1], "changed after it was saved"),
    "missing file": (lambda path: path, "no such file"),
    "a pipe": (pipe, "expected a file, found a folder, a link, a pipe or a device"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_bad_files_are_named(name: str, tmp_path: Path) -> None:
    make, words = BROKEN[name]
    path = make(tmp_path / "bad.json")
    with pytest.raises(BundleError, match=r"bad\.json") as error:
        read_answers([path], KEY, RULES)
    assert words in str(error.value)


def test_everything_is_said_at_once(tmp_path: Path) -> None:
    good, again = whole(tmp_path / "one.json"), whole(tmp_path / "two.json")
    bad = cut_off(tmp_path / "three.json")
    with pytest.raises(BundleError) as error:
        read_answers([good, again, bad], KEY, RULES)
    assert "two.json: juror 1 again, who is already in" in str(error.value)
    assert "three.json: expected a file of ratings" in str(error.value)


def test_good_files_are_read_in_any_order(tmp_path: Path) -> None:
    files = [whole(tmp_path / "b.json", 2), whole(tmp_path / "a.json", 1)]
    found = read_answers(files, KEY, RULES)
    assert [one.juror for one in found] == [1, 2]
    assert found[0].items["g-A-c00"].ratings == tuple(RATE(1, KEY.items[0]))
    passed = edited(tmp_path / "c.json", lambda a: a["g-A-c00"].update(cannot_judge=True, ratings={}))
    assert read_answers([passed], KEY, RULES)[0].items["g-A-c00"].ratings is None
    partial = edited(tmp_path / "d.json", lambda a: a.pop("g-A-c00"))
    assert "g-A-c00" not in read_answers([partial], KEY, RULES, partial=True)[0].items


def test_half_a_character_in_a_remark_is_replaced(tmp_path: Path) -> None:
    path = edited(tmp_path / "a.json", lambda a: a["g-A-c00"].update(remark="nice \ud83d"))
    assert read_answers([path], KEY, RULES)[0].items["g-A-c00"].remark == "nice ?"


def test_ratings_under_other_rules_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="rules have changed"):
        read_answers([whole(tmp_path / "a.json")], KEY, replace(RULES, sha256="0" * 64))


def test_a_key_comes_back_as_it_was_and_a_broken_one_is_named(tmp_path: Path) -> None:
    write_key(tmp_path / "key.json", KEY)
    assert read_key(tmp_path / "key.json") == KEY
    assert (tmp_path / "key.json").stat().st_mode & 0o077 == 0
    (tmp_path / "key.json").write_text("{}")
    with pytest.raises(BundleError, match=r"key\.json"):
        read_key(tmp_path / "key.json")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("scale: [0, 5]", "scale: [5, 0]", "scale"),
        ("weight: 0.2", "weight: 0.3", "sum to 1"),
        ("format_version: 2", "format_version: 1", "format_version"),
        ("level: 0.95", "level: 2", "level"),
        ("criteria:", "criterion:", "did you mean criteria"),
    ],
)
def test_broken_rules_are_named(old: str, new: str, words: str, tmp_path: Path) -> None:
    text = DEFAULT.read_text("utf-8")
    assert old in text
    (tmp_path / "rules.yaml").write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(BundleError, match=words):
        read_rules(tmp_path / "rules.yaml")
