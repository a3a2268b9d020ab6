"""No oracle: whatever kind of run it is, nothing that comes out tells a label, a mean, a source, or a hidden clip."""

import importlib
import pkgutil
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from inspect import isgeneratorfunction
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

import score as program
from score import pipeline
from score.evaluate import Estimate, Evaluation, evaluate
from score.pipeline import prepare, scored
from score.report.gate import redact
from score.report.write import report_page
from score.run import Run
from tests.scoring.canary import CAUSE, CLIP_IDS, CONSTANT, LABELS, SOURCES, canary_case, leaks, secrets, texts_of
from tests.scoring.conftest import Score, run_scoring
from tests.scoring.factory import Case, honest_repeats, known_causes, make_input, recorded
from tests.scoring.pages import CLIPS_ONLY, HIDDEN, OPEN, scored_of
from tests.scoring.spoil import Change, edit, edit_lines, swap

MIXED = ["ok", "failed", "not_reached", "missing", "unreadable", "ok"]


@pytest.mark.parametrize("report", [HIDDEN, CLIPS_ONLY], ids=["hidden", "clips only"])
def test_nothing_that_a_phase_closes_passes_the_gate(report: dict[str, Any], tmp_path: Path) -> None:
    """Builders of sections hold nothing back: they do not get it."""
    run = scored_of(tmp_path, canary_case(report))
    shown = repr({name: value for name, value in vars(run).items() if name != "results"})
    records = run.results
    shown += repr((records.clips, records.predictions, records.explanations, records.probes, records.repeats))
    assert secrets(clips=report == HIDDEN).found_in([shown]) == []
    assert any(explanation.text for explanation in run.outcomes.explanations) == (report != HIDDEN)


STAGES = ("settings", "data", "load", "predict", "explain", "run")


def problems_of(fault: str, *stages: str) -> list[dict[str, Any]]:
    """Problems of these stages, each with ids and files of clips in every text."""
    words = f"clip {CLIP_IDS[0]}, clips/{CLIP_IDS[1]}.mp4"
    return [
        recorded(f"in_{stage}", stage, fault, where=words, found=words, expected=words, fix=words) for stage in stages
    ]


def cut_last(name: str) -> Change:
    return edit(name, lambda text: text[:-9])


def labels(change: Callable[[str], str], encoding: str = "utf-8") -> Change:
    return lambda root: (root / LABEL_FILE).write_text(change((root / LABEL_FILE).read_text()), encoding)


LABEL_FILE, SETTINGS = "ref/labels.csv", "ref/task.yaml"
RECORDS = ("predictions.csv", "clips.jsonl", "explanations.jsonl", "probes.jsonl", "repeats.jsonl")
FIRST = f"{LABELS[0]}"
# What is done to the input, and the exit code.
KINDS: dict[str, tuple[Change, int]] = {
    "good": (lambda root: None, 0),
    "records cut off": (lambda root: [cut_last(f"res/{name}")(root) for name in RECORDS], 0),
    "planted": (lambda root: (root / "res" / f"{CLIP_IDS[0]}.csv").write_text("x"), 0),
    "no results": (lambda root: (root / "res/manifest.json").unlink(), 1),
    "pictures gone": (lambda root: shutil.rmtree(root / "res/images"), 1),
    "clip twice": (edit_lines("res/clips.jsonl", lambda all_: [*all_, all_[0]]), 1),
    "prediction twice": (edit_lines("res/predictions.csv", lambda all_: [*all_, all_[1]]), 1),
    "prediction broken": (swap("res/predictions.csv", "0.45", "nan"), 1),
    "run record broken": (swap("res/run.json", "complete", "finished"), 1),
    "clip without label": (edit_lines(LABEL_FILE, lambda all_: all_[:-1]), 2),
    "labels twice": (edit_lines(LABEL_FILE, lambda all_: [*all_, all_[1]]), 2),
    "label out of range": (swap(LABEL_FILE, FIRST, "1" + FIRST[1:]), 2),
    "label with a comma": (swap(LABEL_FILE, FIRST, FIRST.replace(".", ",")), 2),
    "label with a unit": (swap(LABEL_FILE, FIRST, FIRST + "x"), 2),
    "label quoted badly": (swap(LABEL_FILE, FIRST, '"' + FIRST), 2),
    "row too long": (edit_lines(LABEL_FILE, lambda all_: [*all_, f"cX,{SOURCES[0]}{f',{LABELS[0]}' * 7}\n"]), 2),
    "row too short": (edit_lines(LABEL_FILE, lambda all_: [*all_, f"{LABELS[0]},{LABELS[1]}\n"]), 2),
    "labels without header": (edit_lines(LABEL_FILE, lambda all_: all_[1:]), 2),
    "header without line break": (labels(lambda text: text.replace("\n", "", 1)), 2),
    "labels in UTF-16": (labels(lambda text: text, "utf-16"), 2),
    "semicolons": (labels(lambda text: text.replace(",", ";")), 2),
    "constant out of range": (swap(SETTINGS, f"constant: {CONSTANT}", f"constant: {CONSTANT + 1}"), 2),
    "constant is text": (swap(SETTINGS, f"constant: {CONSTANT}", f"constant: '{CONSTANT}'"), 2),
    "constant misspelt": (swap(SETTINGS, f"constant: {CONSTANT}", f"constnt: {CONSTANT}"), 2),
    "causes gone": (lambda root: (root / "ref/causes.json").unlink(), 2),
    "cause out of form": (swap("ref/causes.json", f"{CAUSE}", f'"{CAUSE}"'), 2),
    "causes of a clip missing": (swap("ref/causes.json", CLIP_IDS[0], "nightjar"), 2),
    "causes broken": (swap("ref/causes.json", f"{CAUSE}", f"{CAUSE}x"), 2),
    "probes twice": (edit_lines("res/probes.jsonl", lambda all_: [*all_, all_[0]]), 1),
    "repeat twice": (edit_lines("res/repeats.jsonl", lambda all_: [*all_, all_[0]]), 1),
    "repeat broken": (swap("res/repeats.jsonl", "interview", CLIP_IDS[0]), 0),
    "repeat of a stray clip": (swap("res/repeats.jsonl", CLIP_IDS[0], "nightjar"), 0),
    "probe of a stray clip": (swap("res/probes.jsonl", CLIP_IDS[0], "nightjar"), 0),
    "settings broken": (swap(SETTINGS, f"constant: {CONSTANT}", f"constant: {CONSTANT}: {CONSTANT}"), 2),
    "other data": (swap("res/run.json", "test-1", "test-2"), 2),
}  # fmt: skip


@pytest.mark.parametrize("report", [HIDDEN, CLIPS_ONLY], ids=["hidden", "clips only"])
@pytest.mark.parametrize("kind", KINDS)
def test_no_kind_of_run_is_an_oracle(score: Score, kind: str, report: dict[str, Any]) -> None:
    change, code = KINDS[kind]
    done = score(canary_case(report), change)
    assert done.code == code, done.log
    assert (done.out / "scores.json").exists() == (code == 0)
    assert leaks(done, secrets(clips=not report["clips"])) == []
    assert "Traceback" not in done.log


@pytest.mark.parametrize("statuses", [MIXED, ["failed"] * 6, ["not_reached"] * 6, ["unreadable"] * 6])
def test_no_outcome_of_the_clips_is_an_oracle(score: Score, statuses: list[str]) -> None:
    case = canary_case(HIDDEN, statuses)
    case.problems = dict.fromkeys(CLIP_IDS, problems_of("participant", "predict"))
    done = score(case)
    assert done.code == (2 if statuses[0] == "unreadable" else 0)
    assert leaks(done, secrets()) == []


@pytest.mark.parametrize("status", ["complete", "partial", "invalid", "organiser_error"])
@pytest.mark.parametrize("fault", ["participant", "organiser"])
def test_what_ingestion_says_about_clips_stays_inside(score: Score, status: str, fault: str) -> None:
    case = canary_case(HIDDEN)
    case.run = {"status": status, "problems": problems_of(fault, *STAGES)}
    done = score(case)
    assert leaks(done, secrets()) == []
    assert all(f"in_{stage} · " in done.log for stage in STAGES)  # none crowds out another


@pytest.mark.parametrize("kind", KINDS)
def test_an_open_phase_keeps_sources_and_means(score: Score, kind: str) -> None:
    done = score(canary_case(OPEN), KINDS[kind][0])
    assert leaks(done, secrets(labels=False, clips=False)) == []


def test_a_header_that_swallows_a_row_is_not_quoted_where_clips_are_closed(score: Score) -> None:
    case = canary_case(HIDDEN)
    case.clip_ids[0] = "nightjar"  # "interviewnightjar" looks like a misspelt column
    done = score(case, labels(lambda text: text.replace("\n", "", 1).replace("\r", "", 1)))
    assert done.code == 2
    assert "labels_column" in done.log
    assert "nightjar" not in done.log + done.page


@pytest.mark.parametrize("report", [HIDDEN, CLIPS_ONLY, OPEN], ids=["hidden", "clips only", "open"])
def test_no_word_of_a_repeat_comes_out(score: Score, report: dict[str, Any]) -> None:
    """Neither of its text nor of its claims, whether they agree with the first ones or not."""
    for same in (True, False):
        case = canary_case(report)

        def repeats(of: Case, *, same: bool = same) -> list[dict[str, Any]]:
            lines = honest_repeats(of)
            for line in lines:
                said = line["explanation"] if same else {"image": "nightjar.jpg", "evidence": None}
                line["explanation"] = said | {"text": f"A nightjar saw {line['clip_id']}. The smile raised nightjar."}
            return lines

        case.repeats = repeats
        done = score(case)
        assert done.code == 0
        assert not any("nightjar" in text for text in (done.log, *texts_of(done.out)))
        assert leaks(done, secrets(labels=not report["truth"], clips=not report["clips"])) == []


def test_the_search_can_fail(score: Score) -> None:
    done = score(canary_case(OPEN))
    found = leaks(done, secrets())
    assert sum(name.startswith("label 0") for name in found) == 6
    assert sum(name.startswith("clip") for name in found) == 6
    assert sum(name.startswith("error") for name in found) >= 3
    for name, text in (
        ("constant", "56.7 %"),
        ("constant", "56.7\N{NO-BREAK SPACE}%"),
        ("label 0.6180339887", "MC42MTgwMzM5ODg3"),
        (f"source {SOURCES[0]}", SOURCES[0]),
    ):
        (done.out / "extra").write_text(text)
        assert name in leaks(done, secrets())


def test_a_closed_page_holds_nothing_finer_than_its_rounded_numbers(tmp_path: Path) -> None:
    """Not even as the length of a bar: the page made from rounded numbers, without baselines, is the same page."""
    prepared = prepare(make_input(tmp_path, canary_case(HIDDEN)))
    exact = evaluate(prepared.outcomes, prepared.settings, 31.2)

    def coarse(estimate: Estimate, places: int, spread: int) -> Estimate:
        ends = estimate.interval
        return Estimate(round(estimate.value, places), ends and (round(ends[0], spread), round(ends[1], spread)), 0.123)

    rounded = Evaluation(
        columns=tuple((c, coarse(e, min(c.decimals, 3), max(0, c.decimals - 2))) for c, e in exact.columns),
        targets=(),
        sources=exact.sources,
        diagnostics=tuple(
            replace(one, value=one.value and round(one.value, 2 if one.unit in {"range", "share"} else 1))
            for one in exact.diagnostics
        ),
        error_analysis={key: share and round(share, 1) for key, share in exact.error_analysis.items()},
    )
    pages = [report_page(redact(scored(prepared, one))) for one in (exact, rounded)]
    assert pages[0] == pages[1]


@pytest.mark.parametrize("report", [HIDDEN, CLIPS_ONLY], ids=["hidden", "clips only"])
def test_labels_are_told_by_scores_and_the_interval_of_what_ranks(tmp_path: Path, report: dict[str, Any]) -> None:
    """With other labels and causes only columns that say so change; with these put back, the page is the same."""
    case = canary_case(report)
    one = prepare(make_input(tmp_path / "one", case))
    case.truth, case.causes = case.truth[::-1] ** 2, known_causes
    other = prepare(make_input(tmp_path / "other", case))
    ours, theirs = (evaluate(each.outcomes, each.settings, 31.2) for each in (one, other))
    both = zip(ours.columns, theirs.columns, strict=True)
    pairs = [(column, mine, instead) for (column, mine), (_, instead) in both]
    assert all((mine.value != instead.value) <= column.of_labels for column, mine, instead in pairs)
    assert [column.key for column, mine, instead in pairs if column.of_labels and mine == instead] == []
    back = [
        (column, mine if column.key == "explanation" else replace(instead, value=mine.value))
        for column, mine, instead in pairs
    ]
    pages = [
        report_page(redact(scored(replace(one, outcomes=outcomes), shown)))
        for outcomes, shown in ((one.outcomes, ours), (other.outcomes, replace(theirs, columns=tuple(back))))
    ]
    assert pages[0] == pages[1]


@cache
def modules() -> tuple[ModuleType, ...]:
    found = pkgutil.walk_packages(program.__path__, "score.")
    return tuple(importlib.import_module(module.name) for module in found)


# The way out itself: what is left when these break is a test of Python.
SPARED = {"main", "_run", "prepare", "say", "speak_utf8", "internal_problem", "attempt"}
# A full disk, which no label fills.
WRITERS = {
    "score.pipeline:score_run",
    "score.pipeline:check_scores",
    "score.pipeline:write_atomically",
    "score.pipeline:write_scores",
}
WORDS = f"{LABELS[0]} of {CLIP_IDS[0]} from {SOURCES[0]}, constant {CONSTANT}"
ERRORS: tuple[tuple[type[Exception], tuple[int | str, ...]], ...] = (
    (ValueError, (WORDS,)),
    (OSError, (WORDS,)),
    (MemoryError, (WORDS,)),
    (OSError, (5, WORDS)),
)


def functions() -> Iterator[str]:
    for module in modules():
        if module.__name__ in ("score.start", "score.packages", "score.messages"):
            continue
        for name, value in vars(module).items():
            if isinstance(value, FunctionType) and value.__module__ == module.__name__ and name not in SPARED:
                yield f"{module.__name__}:{name}"


def function_at(place: str) -> FunctionType:
    home, name = place.split(":")
    function: FunctionType = getattr(importlib.import_module(home), name)
    return function


def broken(*_: object, **__: object) -> None:
    """What a broken function does; the name is looked up in the module of that function."""
    raise globals()["_breakdown"]()


def broken_generator(*_: object, **__: object) -> Iterator[None]:
    """The same of one that yields."""
    raise globals()["_breakdown"]()
    yield


def break_function(patch: pytest.MonkeyPatch, place: str, error: Callable[[], Exception]) -> list[str]:
    """Replace what a function does, whoever holds it; the list grows with every call of it."""
    calls: list[str] = []

    def breakdown() -> Exception:
        calls.append(place)
        return error()

    function = function_at(place)
    instead = broken_generator if isgeneratorfunction(function) else broken
    patch.setitem(function.__globals__, "_breakdown", breakdown)
    patch.setattr(function, "__code__", instead.__code__)
    return calls


@pytest.fixture(scope="module")
def some_clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed run of which a clip failed and another could not be read; nothing ever changes it."""
    case = canary_case(HIDDEN, ["ok", "ok", "failed", "ok", "unreadable", "ok"])
    return make_input(tmp_path_factory.mktemp("some-clips"), case)


@pytest.fixture(scope="module")
def called(some_clips: Path, tmp_path_factory: pytest.TempPathFactory) -> set[CodeType]:
    """What such a run calls: what nobody calls breaks nothing, whatever it raises."""
    found: set[CodeType] = set()
    run_scoring(some_clips, tmp_path_factory.mktemp("first"))  # what is read once, is read now
    sys.setprofile(lambda frame, event, _: found.add(frame.f_code) if event == "call" else None)
    try:
        run_scoring(some_clips, tmp_path_factory.mktemp("called"))
    finally:
        sys.setprofile(None)
    return found


def break_down(source: Path, target: Path, place: str, kind: int) -> None:
    """Run with one function broken, and look for secrets."""
    error, words = ERRORS[kind]
    labels_met: list[Path] = []

    def noting(root: Path, *readers: Any) -> Run:  # noqa: ANN401 - a private class of the pipeline
        prepared = prepare(root, *readers)
        labels_met.append(root)
        return prepared

    with pytest.MonkeyPatch.context() as patch:
        calls = break_function(patch, place, lambda: error(*words))
        patch.setattr(pipeline, "prepare", noting)
        done = run_scoring(source, target)
    assert leaks(done, secrets()) == [], ERRORS[kind]
    assert "Traceback" not in done.log
    if labels_met and not (error is OSError and place in WRITERS):
        assert done.code == 0, done.log
    assert done.code in (0, 1, 2)
    assert calls


# One function in three, of every module, for every day: neighbours are called by one step, which catches for all.
@pytest.mark.parametrize(
    ("number", "place"),
    [
        pytest.param(number, place, marks=[pytest.mark.slow] if number % 3 else [])
        for number, place in enumerate(functions())
    ],
)
def test_no_breakdown_is_an_oracle(
    some_clips: Path, tmp_path: Path, called: set[CodeType], number: int, place: str
) -> None:
    """With one kind of error each, in turn: the program catches by kind, so neighbours stand for each other."""
    if function_at(place).__code__ in called:
        break_down(some_clips, tmp_path / "output", place, number % len(ERRORS))


@pytest.mark.slow
@pytest.mark.parametrize(("number", "place"), [*enumerate(functions())])
def test_no_other_breakdown_is_an_oracle(
    some_clips: Path, tmp_path: Path, called: set[CodeType], number: int, place: str
) -> None:
    for kind in range(len(ERRORS)):
        if function_at(place).__code__ in called and kind != number % len(ERRORS):
            break_down(some_clips, tmp_path / "output", place, kind)
