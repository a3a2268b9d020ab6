"""Many cases in one run: each misbehaves on a clip of its own, whose transcript names it, and an honest clip follows.

A run costs a second, a clip hundredths of it. What a case promises of its clip is held as in a run of its own; the clip
behind it shows that nobody else pays. Cases that concern more than one clip, or need files or settings, play alone.
"""

import json
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import there, warm
from tests.hostile.cases import HERE, Case
from tests.hostile.stage import LIMITS, Played, Stage, lay_stage, play, write_submission
from tests.ingestion.conftest import PROGRAM, Told, told, write_phase

LOADING = {
    "syntax_error",
    "module_missing",
    "import_raised",
    "class_missing",
    "method_missing",
    "signature_wrong",
    "constructor_raised",
}
"""Codes of a model that cannot be loaded, for reasons that the model process itself finds."""
ENDS = {"crashed", "timeout", "too_much", "bad_answer"}
"""Codes of cases that end the model process."""


def only_loads(case: Case) -> bool:
    """Tell whether loading the model shows all that a case promises."""
    needs_more = case.alone or case.scored or case.settings or case.level != "portable"
    return (
        case.verdict.kind == "S" and set(case.verdict.codes) <= LOADING and bool(case.verdict.codes) and not needs_more
    )


def plays_alone(case: Case) -> bool:
    """Tell whether a case needs a run of its own."""
    verdict = case.verdict
    on_its_clip = verdict.kind != "S" and verdict.attacked in {(2,), (2, 3)}
    if only_loads(case):
        return False
    return case.alone or not on_its_clip or bool(case.settings) or case.source is None


@dataclass(frozen=True)
class Gathered:
    """A run of many cases that has ended."""

    stage: Stage
    """Its folders."""
    before: dict[str, str]
    """How they looked before."""
    outcome: Played
    """What the run left behind."""
    clips: list[Told]
    """What it says of each clip."""
    places: dict[str, int]
    """Case -> position of its clip."""

    def pair(self, case: Case) -> list[Told]:
        """Return what is said of the clip of a case, and of the honest one behind it."""
        return self.clips[self.places[case.name] : self.places[case.name] + 2]


def in_order(cases: Iterable[Case]) -> list[Case]:
    """Put a case that ends the process behind each that leaves it unfit for others."""
    listed = list(cases)
    # First those that need nothing for it but the channel, whatever was left to them.
    ending = sorted(
        (case for case in listed if set(case.verdict.codes) & ENDS),
        key=lambda case: "bad_answer" not in case.verdict.codes,
    )
    stained = [case for case in listed if case.stains]
    quiet = [case for case in listed if case not in ending and case not in stained]
    pairs = [case for pair in zip(stained, ending, strict=False) for case in pair]
    return [*quiet, *pairs, *ending[len(stained) :], *stained[len(ending) :]]


def play_together(app: Path, short_phase: Path, cases: Sequence[Case], level: str, call_s: float) -> Gathered:
    """Play cases in one run, in a new interpreter."""
    listed = in_order(cases)
    shown = [short_phase / "clips" / f"{name}.mp4" for name in ("c002", "c003")]
    # The first clip is an honest one: it is asked once more than the others.
    phase = write_phase(app.with_name(f"{app.name}-phase"), [shown[1], *shown * len(listed)])
    places = {case.name: 1 + 2 * number for number, case in enumerate(listed)}
    transcripts = {f"c{position:03d}": name for name, position in places.items()}
    (phase / "transcripts.json").write_text(json.dumps(transcripts))
    limits: dict[str, Any] = {**LIMITS, "time_limit_s": 3600, "load_s": 60, "call_s": call_s, "restarts": 1000}
    # What a case leaves behind must meet the clip behind it, in the same process.
    limits["workers"] = 1

    def submit(folder: Path) -> None:
        (folder / "cases").mkdir(parents=True)
        for name in ("honest.py", "wire.py"):
            shutil.copy(HERE / name, folder)
        shutil.copy(HERE / "gathered.py", folder / "model.py")
        for case in listed:
            (folder / "cases" / f"{case.name}.py").write_text(there(case.source), "utf-8")

    stage = lay_stage(app, phase, submit, limits, level)
    before = stage.snapshot()
    outcome = play(stage, interpreter=True)
    return Gathered(stage, before, outcome, told(outcome), places)


LOAD = Path(__file__).with_name("load.py")


def load_together(folder: Path, cases: Sequence[Case]) -> dict[str, dict[str, str]]:
    """Load the models of cases, each in a process of its own; return case -> the failure that is reported."""
    for case in cases:
        write_submission(case, folder / case.name)
    ended = warm.run(LOAD, [PROGRAM, *(folder / case.name for case in cases)], cwd=folder)
    assert ended.code == 0, ended.printed
    return {case.name: json.loads((folder / f"{case.name}.json").read_text()) for case in cases}
