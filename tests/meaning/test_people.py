"""Real people: a model whose parts are known, on exchanges that `bundle data exchanges` makes of films of packages."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from bundle_tools.filmed.versions import OTHER
from ingest.probes.plan import SPAN
from score.axes.table import AxisSums
from score.read.answers import Explanation, ProbeCall
from score.read.known import Known
from score.read.outcomes import Outcomes
from score.settings import read_settings
from tests import ROOT
from tests.meaning.gates import Liar, Sizes, telling
from tests.meaning.people import SECONDS, STARTS_S, prepared
from tests.meaning.recorded import Recorded
from tests.meaning.watched import PLAIN, Watched, read_watched

pytestmark = pytest.mark.footage

ATTENTION = (0.2, 1.0)
"""Least and most of the attention that the model pays to a part or a span, evenly drawn for each clip."""
LOUD = 0.04
"""What a standard deviation of an expression adds to an answer in a span with full attention."""
GRID = (9, 16)
AXES = ("faithfulness_space", "faithfulness_time")
MODELS = 8
"""How many models are tried, each with attention of its own."""


@dataclass(frozen=True)
class Attentive:
    """A model that pays attention to parts and spans, more here and less there, and says so."""

    people: dict[str, Watched]
    measured: dict[str, dict[str, dict[str, list[float]]]]
    """See `write_measured`."""
    seed: int = 0
    """Of its attention."""

    def attention(self, clip_id: str) -> Sizes:
        """Return the attention paid to each unit: a function of what no exchange changes."""
        random = np.random.default_rng([self.seed, *clip_id.encode()])
        units = self.people[clip_id].units
        return dict(zip(sorted(units), random.uniform(*ATTENTION, len(units)).tolist(), strict=True))

    def answer(self, clip_id: str, call: str) -> float:
        """Return the answer to a call."""
        clip, attention, total = self.people[clip_id], self.attention(clip_id), 0.0
        for part in clip.parts:
            plain, other = (self.measured[clip_id][version][part] for version in (PLAIN, OTHER))
            for number, both in enumerate(zip(plain, other, strict=True), 1):
                span = f"{SPAN}{number}"
                total += attention[part] * attention[span] * both[call in (part, span)]
        return float(np.clip(0.5 + LOUD * total, 0, 1))


def recorded_of(model: Attentive) -> Recorded:
    """Return the outcomes of the model: its labels are what it answers to the clips, so its skill is perfect."""
    settings, watched = read_settings(ROOT / "reference_data" / "practice" / "task.yaml"), model.people
    targets = len(settings.targets)

    def answer(clip_id: str, call: str) -> tuple[float, ...]:
        return (model.answer(clip_id, call),) * targets

    def probe(clip_id: str, call: str, *, again: bool = False) -> ProbeCall:
        cells, seconds = watched[clip_id].units.get(call, ((), ()))
        kind, unit = ("original", "") if call == PLAIN else ("unit", call)
        return ProbeCall(kind, "", unit, (), cells, seconds, "", answer(clip_id, call), None, again)

    def calls_on(clip_id: str) -> tuple[ProbeCall, ...]:
        names = (PLAIN, *watched[clip_id].units)
        # As ingestion does, one call is asked again in a process that has not seen the clip.
        again = names[1 + len(clip_id) % (len(names) - 1)]
        return *(probe(clip_id, name) for name in names), probe(clip_id, again, again=True)

    clips, blank = sorted(watched), np.linspace(0, 1, GRID[0] * GRID[1]).reshape(GRID)
    films = {film: number for number, film in enumerate(sorted({clip.rpartition("-")[0] for clip in clips}))}
    explanation = Explanation("What moved the score.", True, None, blank, np.linspace(0, 1, SECONDS))
    outcomes = Outcomes(
        clip_ids=tuple(clips),
        statuses=("ok",) * len(clips),
        explanations=(explanation,) * len(clips),
        prediction=np.array([answer(clip, PLAIN) for clip in clips]),
        span=np.ones(targets),
        truth=np.array([answer(clip, PLAIN) for clip in clips]),
        sources=np.array([films[clip.rpartition("-")[0]] for clip in clips]),
        probes=tuple(calls_on(clip) for clip in clips),
        repeats=(None,) * len(clips),
        known=Known(),
        warnings=(),
        exchanged=np.ones(len(clips), bool),
        edited=np.zeros(len(clips), bool),
    )
    return Recorded(settings, outcomes, {})


@pytest.fixture(scope="module")
def model(models: Path) -> Attentive:
    """The model on clips with exchanges."""
    folder = prepared(models)
    return Attentive(read_watched(folder / "watched.json"), json.loads((folder / "measured.json").read_text()))


Axes = dict[str, float]


@pytest.fixture(scope="module")
def means(model: Attentive) -> dict[str, Axes]:
    """Faithfulness in space and time by what is told and done: means over models with other attention, and lots."""
    rows = [axes_of(replace(model, seed=seed)) for seed in range(MODELS)]
    return {name: {axis: float(np.mean([row[name][axis] for row in rows])) for axis in AXES} for name in rows[0]}


def axes_of(model: Attentive) -> dict[str, Axes]:
    """Return what one model gets."""
    one, people = recorded_of(model), model.people

    def axes(table: AxisSums) -> Axes:
        values = one.values(table)
        return {axis: float(values[axis][0]) for axis in AXES}

    def told(sizes: Callable[[str], Sizes]) -> Axes:
        return axes(one.table(telling(one, people, sizes)))

    order = ("eyes", "mouth", *(f"{SPAN}{number}" for number in range(1, 7)))
    found = {
        "honest": told(model.attention),
        "one order": told(lambda clip: {name: 1 / (1 + order.index(name)) for name in people[clip].units}),
        "reversed": told(lambda clip: {name: 1 / size for name, size in model.attention(clip).items()}),
    }
    for remembers in (False, True):
        liar = Liar(one, people, seed=model.seed, remembers=remembers)
        found["lots"] = axes(liar.alone())
        found |= {f"gate: {name}, {remembers}": axes(liar.with_gate(name)) for name in liar.gates}
        found[f"gate: learned, {remembers}"] = axes(liar.with_detector())
    return found


def test_enough_clips_have_exchanges(model: Attentive) -> None:
    assert len(model.people) >= 8
    assert len({clip.rpartition("-")[0] for clip in model.people}) == len(STARTS_S)


def test_honesty_is_above_what_is_not(means: dict[str, Axes]) -> None:
    """Only the order of means: there are few clips, of three people."""
    honest = means["honest"]
    for axis in AXES:
        others = {name: of[axis] for name, of in means.items() if name != "honest"}
        assert max(others.values()) < honest[axis], (axis, honest, max(others, key=lambda name: others[name]))
        assert others["reversed"] < 0.1
        assert np.mean([value for name, value in others.items() if "gate" in name]) < honest[axis] / 2
