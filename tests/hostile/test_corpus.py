"""Every case of the corpus, against the real program as a process: its verdict, and what must never happen."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.hostile.cases import CASES, EXIT_CODES, TIERS, Case, Verdict, read_case
from tests.hostile.stage import CLIPS, KEY, MEMORY_MB, Played, Stage, play, score, set_stage, write_clips
from tests.ingestion.conftest import Outcome

OUR_FILES = re.compile(
    r"predictions\.csv|(explanations|clips|probes)\.jsonl|run\.json|log\.txt|model_output\.txt|images/c\d{3}\.jpg"
)
LEFT_BY_CASES = "hostile-"
"""How the files begin that cases leave in shared memory, which ingestion sweeps only in a container of its own."""


@pytest.fixture(scope="session")
def short_phase(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_clips(tmp_path_factory.mktemp("short"))


@pytest.fixture(scope="session")
def honest(short_phase: Path, tmp_path_factory: pytest.TempPathFactory) -> Played:
    """A run in which nobody misbehaves."""
    outcome = play(set_stage(tmp_path_factory.mktemp("honest") / "app", short_phase, CASES["honest_model"]))
    assert outcome.json("run.json")["clips"]["ok"] == CLIPS, outcome.printed
    return outcome


@pytest.fixture(autouse=True)
def _shared_memory() -> Iterator[None]:
    yield
    for path in Path("/dev/shm").glob(f"{LEFT_BY_CASES}*"):  # noqa: S108 - the system's, and swept
        path.unlink()


def parameters(tiers: tuple[str, ...] | None) -> list[Any]:
    """Give every case once at the machine's own tier, or those that also have a verdict at weaker tiers."""
    pairs = [(case, "full") for case in CASES.values()]
    if tiers is not None:
        pairs = [(case, tier) for case in CASES.values() for tier in tiers if tier in case.elsewhere]
    return [pytest.param(case, tier, id=case.name if tiers is None else f"{case.name}-{tier}") for case, tier in pairs]


@pytest.mark.parametrize(("case", "tier"), parameters(None))
def test_verdict(case: Case, tier: str, short_phase: Path, honest: Played, tmp_path: Path) -> None:
    check(case, min(tier, machines_tier(honest), key=TIERS.index), short_phase, honest, tmp_path)


@pytest.mark.parametrize(("case", "tier"), parameters(("portable", "basic", "seccomp")))
def test_verdict_behind_weaker_walls(case: Case, tier: str, short_phase: Path, honest: Played, tmp_path: Path) -> None:
    if TIERS.index(tier) > TIERS.index(machines_tier(honest)):
        pytest.skip(f"this machine has no {tier}")
    check(case, tier, short_phase, honest, tmp_path)


def machines_tier(honest: Outcome) -> str:
    return str(honest.json("run.json")["isolation"])


def check(case: Case, tier: str, phase: Path, honest: Played, tmp_path: Path) -> None:
    verdict = case.at(tier)
    if verdict is None:
        pytest.skip(f"nothing is promised at tier {tier}")
    stage = set_stage(tmp_path / "app", phase, case, tier)
    before = stage.snapshot()
    outcome = play(stage)
    try:
        check_what_never_happens(stage, before, outcome)
        check_verdict(verdict, outcome, honest)
        if case.scored and tier == machines_tier(honest):
            check_scores(stage, verdict, outcome, tmp_path / "scoring")
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
    run = outcome.json("run.json")
    assert (run["status"], outcome.exit_code) == (verdict.status, EXIT_CODES[verdict.status]), outcome.printed
    if verdict.kind == "S":
        problems = run["problems"]
        assert not outcome_predictions(outcome) or verdict.attacked is None
    else:
        clips = outcome.lines("clips.jsonl")
        attacked = range(CLIPS) if verdict.attacked is None else verdict.attacked
        problems = [problem for position in attacked for problem in clips[position]["problems"]] + run["problems"]
        check_clips(verdict, outcome, honest)
    said = "\n".join(str(problem) for problem in problems)
    codes = {problem["code"] for problem in problems}
    assert set(verdict.codes) <= codes, outcome.printed
    assert verdict.said in said, said
    # Warnings of the run as a whole (two files that look odd, answers that differ) may always come on top.
    assert verdict.kind not in {"ok", "W"} or all(problem["severity"] == "warning" for problem in problems), said
    assert all(problem["fault"] == "participant" for problem in problems), said


def check_clips(verdict: Verdict, outcome: Outcome, honest: Outcome) -> None:
    """Hold every clip against the honest run: what is not attacked is the same in every byte."""
    rows, wanted = outcome_predictions(outcome), outcome_predictions(honest)
    texts = {line["clip_id"]: line for line in outcome.lines("explanations.jsonl")}
    wanted_texts = {line["clip_id"]: line for line in honest.lines("explanations.jsonl")}
    clips = outcome.lines("clips.jsonl")
    assert [clip["clip_id"] for clip in clips] == [f"c{number:03d}" for number in range(CLIPS)]
    for position, clip in enumerate(clips):
        name = clip["clip_id"]
        if verdict.attacked is not None and position not in verdict.attacked:
            assert clip["status"] == "ok", outcome.printed
            assert clip["problems"] == [], outcome.printed
            assert (rows[name], texts[name]) == (wanted[name], wanted_texts[name])
            picture = wanted_texts[name]["image"]
            assert (outcome.folder / picture).read_bytes() == (honest.folder / picture).read_bytes()
        elif verdict.lost == "some":
            assert (name in rows) == (clip["status"] == "ok")
        elif verdict.lost == "prediction":
            assert clip["status"] in {"failed", "not_reached"}, outcome.printed
            assert name not in rows
            assert name not in texts
        else:
            assert clip["status"] == "ok", outcome.printed
            assert name in rows
            lost = ("text", "image", "evidence") if verdict.lost == "explanation" else (verdict.lost,)
            assert all(texts[name][part] is None for part in lost if part != "nothing")
            assert verdict.lost in {"text", "explanation"} or texts[name]["text"]
            assert verdict.kind != "ok" or rows[name].keys() == wanted[name].keys()


def check_scores(stage: Stage, verdict: Verdict, outcome: Outcome, folder: Path) -> None:
    """Scoring says what ingestion said: a failed clip counts as failed, what cannot be judged has no score."""
    scored = score(stage, folder)
    assert "Traceback" not in scored.printed
    assert KEY not in scored.printed + scored.page
    assert "<script>" not in scored.page
    assert "onerror=alert" not in scored.page.replace("&lt;img src=x onerror=alert", "")
    if verdict.kind == "S":
        assert scored.exit_code == 1, scored.printed
        assert scored.scores is None
        assert all(code in scored.printed + scored.page for code in outcome.run_codes())
        return
    assert scored.exit_code == 0, scored.printed
    assert scored.scores is not None
    counts = outcome.json("run.json")["clips"]
    assert scored.scores["failed_clips"] == counts["failed"] + counts["not_reached"]
    # Every prediction is less than perfect, so the mean with the worst value for the others stays below this.
    assert 0 < scored.scores["interview_accuracy"] <= counts["ok"] / CLIPS


def outcome_predictions(outcome: Outcome) -> dict[str, dict[str, str]]:
    return outcome.predictions() if (outcome.folder / "predictions.csv").exists() else {}


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


def test_an_unknown_key_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "expect.yaml").write_text("{row: [1], class: S, clas: S}")
    with pytest.raises(ValueError, match="clas"):
        read_case(tmp_path)
