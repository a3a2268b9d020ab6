"""The cases that play alone, against the real program: their verdicts, and what must never happen."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ingest.capacity import SHORT_OF_TIME
from tests import mostly_slow
from tests.hostile.cases import CASES, EXIT_CODES, ISOLATION_LEVELS, Case, Verdict, read_case
from tests.hostile.stage import KEY, LIMITS, MEMORY_MB, Played, Stage, play, score, set_stage
from tests.hostile.together import plays_alone
from tests.ingestion.conftest import Outcome, Told, told

OUR_FILES = re.compile(
    r"predictions\.csv|(explanations|clips|repeats|probes)\.jsonl|run\.json|log\.txt|model_output\.txt|images/c\d{3}\.jpg"
)
PYTHON = f"Python {sys.version_info.major}.{sys.version_info.minor}"
LEFT_BY_CASES = "hostile-"
"""How the files begin that cases leave in shared memory, which ingestion sweeps only in a container of its own."""


@pytest.fixture(autouse=True)
def _shared_memory() -> Iterator[None]:
    yield
    for path in Path("/dev/shm").glob(f"{LEFT_BY_CASES}*"):  # noqa: S108 - the system's, and swept
        path.unlink()


def machines_tier(honest: Outcome) -> str:
    return str(honest.json("run.json")["isolation"])


ALONE = [case for case in CASES.values() if plays_alone(case)]
QUICK = [
    "answers_before_it_is_asked",
    "bad_file_names",
    "brings_metadata_yaml",
    "dies_again_and_again",
    "empty_archive",
    "finds_what_it_left",
    "forges_a_load_failure",
    "forges_its_sandbox",
    "frames_of_the_next_clips",
    "import_hangs",
    "metaclass_lies",
    "no_model",
    "plants_results",
    "shadows_ours",
    "shared_memory_hog",
    "too_many_files",
    "truncates_the_frames",
    "wrong_case",
]
"""What `make test` tries, too."""


@pytest.mark.parametrize("name", mostly_slow([case.name for case in ALONE], QUICK))
def test_verdict(name: str, short_phase: Path, honest: Played, tmp_path: Path) -> None:
    check(CASES[name], machines_tier(honest), short_phase, honest, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "level"),
    [pytest.param(case, level, id=f"{case.name}-{level}") for case in ALONE for level in case.elsewhere],
)
def test_verdict_behind_weaker_walls(case: Case, level: str, short_phase: Path, honest: Played, tmp_path: Path) -> None:
    if ISOLATION_LEVELS.index(level) > ISOLATION_LEVELS.index(machines_tier(honest)):
        pytest.skip(f"this machine has no {level}")
    check(case, level, short_phase, honest, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("version", [1, 2])
def test_files_stay_whole_under_every_version_of_landlock(
    version: int, short_phase: Path, honest: Played, tmp_path: Path
) -> None:
    """Those before the third have no word for emptying a file."""
    if machines_tier(honest) != "full":
        pytest.skip("this machine has no Landlock")
    stage = set_stage(tmp_path / "app", short_phase, CASES["empties_files"])
    module = stage.app / "program" / "model_process" / "sandbox" / "landlock.py"
    module.write_text(re.sub(r"(?m)^NEWEST = \d+$", f"NEWEST = {version}", module.read_text()))
    before = stage.snapshot()
    outcome = play(stage)
    assert outcome.json("run.json")["landlock"] == version
    check_what_never_happens(stage, before, outcome)
    check_verdict(CASES["empties_files"].verdict, outcome, honest)


def check(case: Case, level: str, phase: Path, honest: Played, tmp_path: Path) -> None:
    verdict = case.at(level)
    if verdict is None:
        pytest.skip(f"nothing is promised at level {level}")
    stage = set_stage(tmp_path / "app", phase, case, level)
    before = stage.snapshot()
    outcome = play(stage)
    with expected_failure(verdict):
        check_what_never_happens(stage, before, outcome)
        check_verdict(verdict, outcome, honest)
        assert outcome.json("run.json")["restarts"] <= {**LIMITS, **case.settings}["restarts"]
        if case.scored and level == machines_tier(honest):
            check_scores(stage, outcome, tmp_path / "scoring", judged=verdict.kind != "S")


@contextmanager
def expected_failure(verdict: Verdict) -> Iterator[None]:
    """Let a case fail whose verdict is not reached yet."""
    try:
        yield
    except AssertionError:
        if verdict.hole:
            pytest.xfail(verdict.hole)
        raise


def check_what_never_happens(stage: Stage, before: dict[str, str], outcome: Played) -> None:
    assert "Traceback" not in outcome.printed, outcome.printed
    assert outcome.memory_mb < MEMORY_MB
    assert stage.strangers() == []
    assert stage.leaks(outcome.printed) == []
    assert stage.snapshot() == before
    assert sorted(path.name for path in (stage.app / "tmp").iterdir()) == []
    assert all(map(OUR_FILES.fullmatch, outcome.json("manifest.json")["files"]))
    kinds = {"images", *outcome.json("manifest.json")["files"], "manifest.json"}
    assert {path.relative_to(stage.output).as_posix() for path in stage.output.rglob("*")} <= kinds


def check_verdict(verdict: Verdict, outcome: Outcome, honest: Outcome) -> None:
    """Hold a run of its own to what a case promises."""
    run = outcome.json("run.json")
    assert (run["status"], outcome.exit_code) == (verdict.status, EXIT_CODES[verdict.status]), outcome.printed
    if verdict.kind == "S":
        check_problems(verdict, run["problems"])
        predictions = outcome.folder / "predictions.csv"
        assert not (predictions.exists() and outcome.predictions()) or verdict.attacked is None
        return
    clips, wanted = told(outcome), told(honest)
    assert len(clips) == len(wanted)
    attacked = range(len(clips)) if verdict.attacked is None else verdict.attacked
    for position, (clip, alike) in enumerate(zip(clips, wanted, strict=True)):
        check_clip(verdict if position in attacked else None, clip, alike)
    check_problems(
        verdict, [problem for position in attacked for problem in clips[position].problems] + run["problems"]
    )


def check_problems(verdict: Verdict, problems: list[dict[str, Any]]) -> None:
    said = "\n".join(str(problem) for problem in problems)
    assert set(verdict.codes) <= {problem["code"] for problem in problems}, said
    assert verdict.said.format(python=PYTHON) in said, said
    # Warnings of the run as a whole (two files that look odd, answers that differ) may always come on top.
    assert verdict.kind not in {"ok", "W"} or all(problem["severity"] == "warning" for problem in problems), said
    if "machine_busy" in said:  # of a machine that runs other things too, which is not what is tried here
        problems = [problem for problem in problems if problem["code"] not in {"machine_busy", *SHORT_OF_TIME}]
    assert all(problem["fault"] == "participant" for problem in problems), said


def check_clip(verdict: Verdict | None, clip: Told, honest: Told) -> None:
    """Hold a clip against the same one in the honest run: without a verdict it is the same in every byte."""
    if verdict is None:
        assert clip == honest
    elif verdict.lost == "some":
        assert (clip.row is not None) == (clip.status == "ok")
    elif verdict.lost == "prediction":
        assert clip.status in {"failed", "not_reached"}
        assert clip.row is None
        assert clip.explanation is None
    else:
        assert clip.status == "ok", clip.problems
        assert clip.row is not None
        assert clip.explanation is not None
        lost = ("text", "image", "evidence") if verdict.lost == "explanation" else (verdict.lost,)
        assert all(clip.explanation[part] is None for part in lost if part != "nothing")
        assert verdict.lost in {"text", "explanation"} or clip.explanation["text"]
        assert verdict.kind != "ok" or clip.row.keys() == (honest.row or {}).keys()


def check_scores(stage: Stage, outcome: Outcome, folder: Path, *, judged: bool) -> None:
    """Scoring says what ingestion said: a failed clip counts as failed, what cannot be judged has no score."""
    scored = score(stage, folder)
    assert "Traceback" not in scored.printed
    assert KEY not in scored.printed + scored.page
    assert "<script>" not in scored.page
    assert "onerror=alert" not in scored.page.replace("&lt;img src=x onerror=alert", "")
    if not judged:
        assert scored.exit_code == 1, scored.printed
        assert scored.scores is None
        assert all(code in scored.printed + scored.page for code in outcome.run_codes())
        return
    assert scored.exit_code == 0, scored.printed
    assert scored.scores is not None
    counts = outcome.json("run.json")["clips"]
    assert scored.scores["failed_clips"] == counts["failed"] + counts["not_reached"]
    # Every prediction is less than perfect, so the mean with the worst value for the others stays below this.
    assert 0 < scored.scores["interview_accuracy"] <= counts["ok"] / counts["total"]


def test_the_corpus_is_large_enough() -> None:
    rows = {row for case in CASES.values() for row in case.rows}
    assert len(CASES) >= 100
    # Section 5.4, organiser's data, has tests of its own; these rows cannot be tried here.
    assert set(range(1, 93)) - rows <= NOT_HERE.keys()
    assert sum(case.container for case in CASES.values()) >= 30
    assert sum(len(case.elsewhere) for case in CASES.values()) >= 20


NOT_HERE = {
    23: "needs a graphics card's library",
    85: "cannot be detected",
}


def test_an_unknown_key_is_an_error() -> None:
    with pytest.raises(ValueError, match="clas"):
        read_case("a_case", {"row": [1], "class": "S", "clas": "S"})
