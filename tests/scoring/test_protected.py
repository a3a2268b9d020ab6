"""Protected attributes in explanations: found where they are named, never where a word only looks like one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from score.text.protected import attributes, named_attributes
from tests import ROOT
from tests.scoring.conftest import Score
from tests.scoring.factory import Case, full_explanation, make_case

HERE = Path(__file__).parent
CASES = yaml.safe_load((HERE / "protected_cases.yaml").read_text("utf-8"))
FULL_NAMES = {name.split()[0]: name for name in attributes()} | {"orientation": "sexual orientation"}


def found_in(text: str) -> set[str]:
    return {named.attribute for named in named_attributes(text)}


@pytest.mark.parametrize(("text", "expected"), CASES["named"])
def test_what_is_named_is_found(text: str, expected: list[str]) -> None:
    assert found_in(text) == {FULL_NAMES[name] for name in expected}


@pytest.mark.parametrize("text", CASES["unnamed"])
def test_no_word_is_mistaken(text: str) -> None:
    assert named_attributes(text) == ()


def test_none_of_the_parsers_sentences_is_flagged() -> None:
    # 300 explanations written for another purpose: none names an attribute of a person.
    sentences = yaml.safe_load((HERE / "sentences.yaml").read_text("utf-8"))
    assert len(sentences) == 300
    assert [entry["text"] for entry in sentences if named_attributes(entry["text"])] == []


def test_every_attribute_has_cases() -> None:
    assert {FULL_NAMES[name] for _, expected in CASES["named"] for name in expected} == set(attributes())


@given(st.text(max_size=300), st.sampled_from(CASES["named"]))
def test_any_text_is_read_and_other_sentences_change_nothing(noise: str, case: tuple[str, list[str]]) -> None:
    named_attributes(noise)
    text = case[0]
    assert found_in(f"The light is dim. {text} The frame is close.") == found_in(text)
    assert named_attributes(text + " " + text) == named_attributes(text)


TEXT = "The young man smiles, and that raised the interview score."


def case_of(clips: int, *, open_: bool = True) -> Case:
    """Let the first clips of twelve name sex and age."""
    report = {"clips": open_, "truth": open_, "gallery": 4}
    case = make_case(clips=12, report=report)
    telling = set(case.clip_ids[:clips])

    def explain(clip_id: str) -> dict[str, Any]:
        return full_explanation(clip_id) | ({"text": TEXT} if clip_id in telling else {})

    return replace(case, explain=explain)


def test_they_are_counted_and_told_where_clips_are_open(score: Score) -> None:
    outcome = score(case_of(3))
    said = '3 of 12 name a protected attribute: sex or gender in 3 (such as "man"), age in 3 (such as "young")'
    assert said in outcome.log
    assert "protected_attribute" in outcome.page
    assert "sex or gender in 3" in outcome.page


def test_only_the_count_is_told_where_clips_are_closed(score: Score) -> None:
    outcome = score(case_of(3, open_=False))
    assert "3 of 12 name a protected attribute · expected" in outcome.log
    for secret in ("such as &#34;man", 'such as "man"', "sex or gender in"):
        assert secret not in outcome.page + outcome.log


def test_without_one_nothing_is_said(score: Score) -> None:
    outcome = score(case_of(0))
    assert "protected_attribute" not in outcome.page + outcome.log


def test_no_score_depends_on_it() -> None:
    # The only door from the lists to the outside is the warning.
    modules = (ROOT / "scoring_program").rglob("*.py")
    assert [path.name for path in modules if "text.protected import" in path.read_text("utf-8")] == ["messages.py"]
