"""The cases that play together, a clip each: their verdicts, and what must never happen."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from ingest.errors import Problem
from ingest.stats import Feedback
from tests.hostile.cases import CASES, ISOLATION_LEVELS, Case, waits
from tests.hostile.stage import Played
from tests.hostile.test_corpus import (
    check_clip,
    check_problems,
    check_scores,
    check_what_never_happens,
    expected_failure,
    machines_tier,
)
from tests.hostile.together import Gathered, load_together, only_loads, play_together, plays_alone
from tests.ingestion.conftest import told

WEAKER = ("portable", "basic", "seccomp")
CALL_S = {"waiting": 1.5, "others": 60, **dict.fromkeys(WEAKER, 3)}
"""The runs, two at the machine's own level and one at each weaker one, and how long a call of theirs may take."""


def members(group: str) -> list[Case]:
    """Return the cases of a run."""
    cases = [case for case in CASES.values() if not plays_alone(case) and not only_loads(case)]
    if group in WEAKER:
        return [case for case in cases if group in case.elsewhere]
    return [case for case in cases if waits(case) == (group == "waiting")]


@dataclass
class Play:
    """Plays each group once, when it is asked for."""

    cases: dict[str, list[Case]]
    """Group -> its cases, as far as they were chosen (-k)."""
    phase: Path
    """Its second and third clips are shown."""
    own_tier: str
    """The machine's."""
    folder: Path
    """Everything lies in it."""

    def __post_init__(self) -> None:
        self._done: dict[str, Gathered] = {}

    def level(self, group: str) -> str:
        return group if group in WEAKER else self.own_tier

    def of(self, group: str) -> Gathered:
        if ISOLATION_LEVELS.index(self.level(group)) > ISOLATION_LEVELS.index(self.own_tier):
            pytest.skip(f"this machine has no {group}")
        if group not in self._done:
            cases = [case for case in self.cases.get(group, members(group)) if case.at(self.level(group)) is not None]
            self._done[group] = play_together(self.folder / group, self.phase, cases, self.level(group), CALL_S[group])
        return self._done[group]


@pytest.fixture(scope="module")
def played(
    request: pytest.FixtureRequest, short_phase: Path, honest: Played, tmp_path_factory: pytest.TempPathFactory
) -> Play:
    cases: dict[str, list[Case]] = {}
    for item in request.session.items:
        if isinstance(item, pytest.Function) and item.module is request.module and item.originalname == "test_verdict":
            cases.setdefault(str(item.callspec.params["group"]), []).append(item.callspec.params["case"])  # type: ignore[arg-type]
    return Play(cases, short_phase, machines_tier(honest), tmp_path_factory.mktemp("together"))


LONG_RUN = {group: [] if group == "others" else [pytest.mark.slow] for group in CALL_S}
GROUPS = [pytest.param(group, marks=marks) for group, marks in LONG_RUN.items()]
ALL = [
    pytest.param(case, group, id=f"{case.name}-{group}", marks=marks)
    for group, marks in LONG_RUN.items()
    for case in members(group)
]


@pytest.mark.parametrize(("case", "group"), ALL)
def test_verdict(case: Case, group: str, played: Play, honest: Played) -> None:
    verdict = case.at(played.level(group))
    if verdict is None:
        pytest.skip(f"nothing is promised at level {played.level(group)}")
    clip, behind = played.of(group).pair(case)
    wanted = told(honest)
    both = verdict.attacked == (2, 3)
    with expected_failure(verdict):
        check_clip(verdict, clip, wanted[2])
        check_clip(verdict if both else None, behind, wanted[3])
        check_problems(verdict, clip.problems + behind.problems)


@pytest.mark.parametrize("group", GROUPS)
def test_what_never_happens(group: str, played: Play, honest: Played, tmp_path: Path) -> None:
    gathered = played.of(group)
    check_what_never_happens(gathered.stage, gathered.before, gathered.outcome)
    run = gathered.outcome.json("run.json")
    assert (run["status"], gathered.outcome.exit_code) == ("complete", 0), gathered.outcome.printed
    # That a machine was busy with other things is not what is tried here.
    assert {problem["code"] for problem in run["problems"]} <= {"answers_differ", "machine_busy", "calls_refused"}
    assert gathered.clips[0] == told(honest)[3]
    if group not in WEAKER:
        check_scores(gathered.stage, gathered.outcome, tmp_path / "scoring", judged=True)


LOADED = [case for case in CASES.values() if only_loads(case)]


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    return load_together(tmp_path_factory.mktemp("loaded"), LOADED)


@pytest.mark.parametrize("case", LOADED, ids=lambda case: case.name)
def test_verdict_of_the_load(case: Case, reports: dict[str, dict[str, str]]) -> None:
    """What ingestion makes of such a report is shown by the cases that play alone."""
    report = reports[case.name]
    problem = Problem(report["code"], "load", report["where"], report["found"], report["expected"], report["fix"])
    check_problems(case.verdict, [Feedback(case.folder, ("warmth",), hidden=False).redact(problem).record()])
