"""The codes of scoring are a closed list: the program and the page agree."""

import ast
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from score.errors import CODES, Problem
from score.messages import NOBODY, Audience, lines
from tests import ROOT
from tests.listed_codes import listed
from tests.scoring.conftest import Outcome, Score
from tests.scoring.factory import Case, honest_probes, make_case, recorded
from tests.scoring.pages import HIDDEN, Page

PLACES = {"wrong": slice(0, 1), "FileReader": slice(1, 2), ".wrong": slice(3, 4), ".table": slice(1, 3)}
"""By what is called, which of its arguments are codes."""


def used_codes() -> set[str]:
    """Gather the codes of all problems that the program makes; one that is no plain text fails."""
    found: set[str] = set()
    for path in sorted((ROOT / "scoring_program" / "score").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and path.name != "schema.py":
                name = f".{node.func.attr}" if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                for code in node.args[PLACES.get(name, slice(0))]:
                    if isinstance(code, ast.Constant):
                        found.add(str(code.value))
                    else:  # a reader hands on what it was given
                        assert path.name == "tables.py", f"{path.name}, line {node.lineno}"
    return found


def test_the_program_uses_what_is_registered_and_nothing_else() -> None:
    # What tells of an unexpected error leans on nothing that can break, not even on `wrong`.
    assert used_codes() | {"internal_error"} == CODES.keys()


def test_the_page_lists_them_all() -> None:
    on_page = listed(scoring=True)
    assert {one.name: one.kind == "W" for one in on_page} == {name: code.warning for name, code in CODES.items()}
    for kind in "SOW":  # a section holds its codes in the order of the registry
        names = [one.name for one in on_page if one.kind == kind]
        assert names == [name for name in CODES if name in names]
    for one in on_page:
        code = CODES[one.name]
        assert one.kind in "OW" or (one.kind == "S" and code.stage == "run")


def troubled(**settings: Any) -> Case:  # noqa: ANN401 - any settings key
    case = make_case(clips=6, statuses=["failed", "failed", "failed", "ok", "ok", "unreadable"], **settings)
    case.problems = {clip_id: [recorded("predict_raised")] for clip_id in case.clip_ids[:3]}
    case.problems[case.clip_ids[5]] = [
        recorded("clip_unreadable", "data", "organiser", where=f"clip {case.clip_ids[5]}")
    ]
    slow = recorded("budget_ended", "run", where="the run", found="500 s used", severity="warning")
    case.run = {"status": "partial", "problems": [slow]}
    return case


def sections(done: Outcome) -> tuple[str, str]:
    """The log's two lists."""
    yours, theirs = re.split(r"^For the organisers:$", done.log, flags=re.M)
    return yours, theirs


def test_problems_of_the_run_and_grouped_problems_of_clips_are_in_log_and_page(score: Score) -> None:
    done = score(troubled())
    yours, theirs = sections(done)
    assert yours.startswith("For you:\n")
    assert "ERROR · 3 times · predict_raised · clip c" in yours
    assert "ValueError: a red jumper" in yours
    assert "WARNING · budget_ended · the run · found 500 s used" in yours
    assert "clip_unreadable" in theirs
    assert "clips_undecodable" in theirs
    text = " ".join(Page(done.page).text.split())
    text = text[text.index("For you") :]
    assert text.index("predict_raised") < text.index("For the organisers") < text.index("clip_unreadable")
    assert "predict_raised · 3 times" in text


def test_a_closed_phase_gets_codes_and_counts_alone(score: Score) -> None:
    case = troubled(report=HIDDEN)
    done = score(case)
    assert "3 times · predict_raised · expected a dict · return one" in done.log
    assert "predict_raised" in done.page
    for secret in ("red jumper", "line 3", *case.clip_ids):
        assert secret not in done.log + done.page


def test_a_failed_run_has_both_sections(score: Score) -> None:
    case = make_case(clips=2)
    case.run = {
        "status": "invalid",
        "problems": [recorded("class_missing", "load"), recorded("odd", "run", "organiser")],
    }
    done = score(case)
    assert done.code == 1
    yours, theirs = sections(done)
    assert "class_missing" in yours
    assert "odd" in theirs
    text = Page(done.page).text
    assert text.index("For you") < text.index("class_missing") < text.index("For the organisers") < text.index("odd")


def moved(by: float, noise: float = 0.0) -> Case:
    """A model that answers higher in its second pass, and differs by some noise when it is asked again."""
    case = make_case(np.full((12, 6), 0.4))
    tested = replace(case, prediction=case.prediction + by)

    def probes(_: Case) -> list[dict[str, Any]]:
        calls = honest_probes(tested)
        for call in calls:
            if call["again"]:
                call["prediction"] = {name: value + noise for name, value in call["prediction"].items()}
        return calls

    case.probes = probes
    return case


@pytest.mark.parametrize(
    ("by", "noise", "told"), [(0.0, 0.0, False), (0.019, 0.0, False), (0.021, 0.0, True), (0.05, 0.03, False)]
)
def test_passes_that_differ_are_the_participants_fault(score: Score, by: float, noise: float, told: bool) -> None:
    yours, _, _ = score(moved(by, noise)).log.partition("For the organisers:")
    assert ("WARNING · passes_differ · predict" in yours) == told
    assert f"differ by {by:.2g} of the range" in yours or not told


def test_a_model_may_react_to_what_every_call_on_a_filmed_clip_draws(score: Score) -> None:
    case = moved(0.1)
    drawn = case.probes
    assert drawn is not None
    case.probes = lambda tested: [
        {**call, "operator": "draw"} if call["kind"] == "cue" else call for call in drawn(tested)
    ]
    assert "passes_differ" not in score(case).log


def test_a_closed_phase_hears_of_passes_that_differ_without_a_clip(score: Score) -> None:
    case = moved(0.1)
    case.settings["report"] = HIDDEN
    done = score(case)
    assert "passes_differ" in done.log
    assert "passes_differ" in done.page
    assert not any(clip_id in done.log + done.page for clip_id in case.clip_ids)


def only(kind: str) -> Callable[[Case], list[dict[str, Any]]]:
    return lambda of: [call for call in honest_probes(of) if call["unit"] in (None, kind)]


@pytest.mark.parametrize(
    ("people", "probes", "found"),
    [
        (4, honest_probes, ""),
        (3, honest_probes, "units of 3 people and 6 kinds"),
        (6, only("mouth"), "units of 6 people and 1 kinds"),
        (3, lambda of: [call for call in honest_probes(of) if call["kind"] != "unit"], ""),  # nothing was tested
        (3, None, ""),
    ],
)
def test_too_few_people_or_kinds_to_tell_what_is_always_so(
    score: Score, people: int, probes: Callable[[Case], list[dict[str, Any]]] | None, found: str
) -> None:
    case = make_case(clips=12, sources=[f"person-{number % people}" for number in range(12)])
    case.probes = probes
    done = score(case)
    _, _, theirs = done.log.partition("For the organisers:")
    assert (f"WARNING · yardstick_missing · perturbed copies · found {found}" in theirs) == bool(found)
    measured = [done.scores[key] > 0.3 for key in ("faithfulness_space", "faithfulness_time")]
    assert measured == [probes is honest_probes and not found] * 2


def finding(number: int, fault: str) -> Problem:
    return Problem(f"code_{number}", "run", "", "", "", "", fault=fault)


@pytest.mark.parametrize(
    ("yours", "theirs", "shown"),
    [(0, 0, (0, 0)), (3, 2, (3, 2)), (99, 0, (50, 0)), (0, 99, (0, 50)), (99, 99, (25, 25)), (99, 5, (45, 5))],
)
def test_the_log_has_at_most_fifty_lines_and_neither_list_drowns_the_other(
    yours: int, theirs: int, shown: tuple[int, int]
) -> None:
    found = [finding(n, "participant") for n in range(yours)] + [finding(n, "organiser") for n in range(theirs)]
    printed = lines(found)
    listed = [line for line in printed if "code_" in line]
    assert len(listed) == sum(shown) <= 50
    for total, some in zip((yours, theirs), shown, strict=True):
        assert (f"  - and {total - some} more" in printed) == (total > some)


def test_an_audience_of_a_closed_phase_hears_no_id_and_no_file() -> None:
    audience = Audience(open=False).knowing({"c12345678", "17"})
    heard = audience.text("clip c12345678, images/c12345678.jpg, clips/x_0.73.mp4, line 17, c123456789, c12345678.")
    assert heard == "clip (clip), images/(clip), clips/(clip), line 17, c123456789, (clip)."
    assert Audience(open=True).knowing({"c12345678"}).text("c12345678") == "c12345678"
    assert NOBODY.text("images/c9.jpg") == "images/(clip)"


def test_damage_of_many_pictures_is_one_line_in_a_closed_phase(score: Score) -> None:
    def spoil(root: Path) -> None:
        for path in (root / "res" / "images").iterdir():
            path.unlink()

    case = make_case(report=HIDDEN)
    done = score(case, spoil)
    assert done.code == 1
    assert "8 times · results_damaged · images/(clip) · found no regular file" in done.log
    assert not [clip_id for clip_id in case.clip_ids if clip_id in done.log + done.page]


RECEIPTS: list[tuple[object, str]] = [
    ({"clips": 4, "identical": 4, "largest_difference": 0.0}, "yes 4 clips asked twice, identical"),
    (
        {"clips": 4, "identical": 1, "largest_difference": 0.123456},
        "no 3 of 4 clips asked twice differ by up to 0.12",
    ),
    ({"clips": 4, "identical": 3, "largest_difference": None}, "no 1 of 4 clips asked twice differ"),
    (None, "not asked no clip was asked twice"),
    ([], "not asked no clip was asked twice"),
    ({"clips": "4", "identical": 4}, "not asked no clip was asked twice"),
    ({"clips": 4, "identical": 9}, "not asked no clip was asked twice"),
    ({"clips": 10**400, "identical": 9}, "not asked no clip was asked twice"),
]


@pytest.mark.parametrize(
    ("landlock", "words"),
    [(7, "Landlockversion 7\n"), (0, "Landlocknone\n"), (None, ""), ("7", ""), (-1, ""), (10**400, ""), (True, "")],
)
def test_the_version_of_landlock_is_told(score: Score, landlock: object, words: str) -> None:
    case = make_case(clips=2, report=HIDDEN)
    case.run = {"landlock": landlock}
    text = Page(score(case).page).text
    assert (words in text) if words else ("Landlockversion" not in text and "Landlocknone" not in text)


@pytest.mark.parametrize(("receipt", "words"), RECEIPTS)
def test_the_determinism_receipt_is_put_into_words(score: Score, receipt: object, words: str) -> None:
    case = make_case(clips=2, report=HIDDEN)
    case.run = {
        "determinism": receipt,
        "isolation": "seccomp",
        "restarts": 3,
        "workers": 2,
        "probes": {"again": receipt},
    }
    text = Page(score(case).page).text
    assert f"Same answer twice{words}\n" in text
    assert (
        f"Same answer twice, perturbed{words.replace('clips', 'perturbed copies').replace('clip', 'perturbed copy')}\n"
        in text
    )
    assert "Isolationseccomp limits and seccomp, no Landlock\n" in text
    assert "Restarts of the model3\n" in text
    assert "Models side by side2\n" in text
    assert "Recordsunsealed" in text
