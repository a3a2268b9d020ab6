"""Lets the scoring program judge a simulated run: the records of ingestion, written from arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ingest.probes.draws import Draws
from ingest.probes.plan import Call, Claims, CueEdit, plan_calls
from ingest.probes.repeats import choose_repeats
from ingest.probes.settings import OPERATORS, ProbeSettings
from score.evaluation import evaluate
from score.pipeline import prepare
from tests.meaning.entrants import Entrant, Submission
from tests.meaning.world import COLUMNS, ROWS, TARGETS, VOCABULARY, Alteration, World, unaltered
from tests.scoring.factory import Case, make_input, task_settings

FIRST_PASS = -1  # number of the call that pass 1 makes
_PROBES = ProbeSettings((0.1, 0.2, 0.3, 0.5), OPERATORS, edits=3, gain=0.01, shift_px=2, frames=1)


def write_run(root: Path, entrant: Entrant, world: World) -> Path:
    """Write ``ref`` and ``res`` of one run below ``root``; returns ``root``."""
    submission = Submission(entrant, world)
    numbers = {clip_id: clip for clip, clip_id in enumerate(world.clip_ids)}
    predictions = np.array([submission.predict(clip, unaltered(), FIRST_PASS) for clip in numbers.values()])
    case = Case(
        truth=world.labels,
        prediction=predictions,
        clip_ids=list(world.clip_ids),
        sources=list(world.clip_ids),
        statuses=["ok"] * len(world.clip_ids),
        settings=phase_settings(),
        explain=lambda clip_id: submission.explain(numbers[clip_id], predictions[numbers[clip_id]]),
        probes=lambda _: _second_pass(submission),
        causes=lambda _: world.causes(),
    )
    return make_input(root, case)


def phase_settings() -> dict[str, Any]:
    """Return the settings of a hidden phase with known causes, without intervals."""
    return task_settings(
        causes="causes.json",
        skill_reference=dict.fromkeys(TARGETS, 0.035),
        explanation_score={"vocabulary": list(VOCABULARY)},
        bootstrap={"resamples": 0, "level": 0.95, "seed": 1},
        report={"clips": False, "truth": False, "gallery": 0},
    )


def scores_of(root: Path) -> dict[str, float]:
    """Score what `write_run` wrote as the scoring program does, but make no page; returns the scores."""
    prepared = prepare(root)
    evaluation = evaluate(prepared.outcomes, prepared.settings, prepared.results.run.duration_s)
    return {column.key: column.rounded(estimate.value) for column, estimate in evaluation.columns}


def _second_pass(submission: Submission) -> list[dict[str, Any]]:
    """Return the lines of ``probes.jsonl``: the calls that the ingestion program plans, and some of them again."""
    draws, plan = _plan(submission)
    numbers = {call: number for number, call in enumerate(call for calls in plan.values() for call in calls)}
    lines = [_line(submission, call, number) for call, number in numbers.items()]
    answered = {call for call in numbers if call.kind != "twin"}
    # A fresh process is shown the very same copies, jitter and all.
    fresh = Submission(submission.entrant, submission.world)
    again = choose_repeats(plan, answered, draws)
    return lines + [_line(fresh, call, numbers[call]) | {"again": True} for call in again]


def _plan(submission: Submission) -> tuple[Draws, dict[str, list[Call]]]:
    """Return the calls that the ingestion program plans for this submission, and what it draws with."""
    world = submission.world
    claims = {clip_id: _pointed(submission, clip) for clip, clip_id in enumerate(world.clip_ids)}
    draws = Draws(None, world.seed)
    edits = {
        clip_id: [CueEdit(cue, "copy") for cue in draws.order(cues, "edits", clip_id)]
        for clip_id, cues in zip(world.clip_ids, world.edits, strict=True)
    }
    return draws, plan_calls(claims, edits, _PROBES, ROWS * COLUMNS, draws)


def _pointed(submission: Submission, clip: int) -> Claims:
    """Return what the plan sees of an explanation: a uniform map is none."""
    if not submission.entrant.evidence:
        return Claims(None, None, ())
    space, time = (part.ravel() if part.min() < part.max() else None for part in submission.maps(clip))
    return Claims(space, time, ())


def _line(submission: Submission, call: Call, number: int) -> dict[str, Any]:
    """One line of ``probes.jsonl``."""
    clip = submission.world.clip_ids.index(call.clip_id)
    prediction = submission.predict(clip, _alteration(call), number)
    twin = call.kind == "twin"
    return {
        "clip_id": call.clip_id,
        "kind": call.kind,
        "operator": call.operator,
        "part": call.part,
        "places": call.places,
        "partner": call.partner,
        "cue": call.cue,
        "prediction": None if twin else dict(zip(TARGETS, prediction.tolist(), strict=True)),
        "explanation": submission.explain(clip, prediction, twin=True) if twin else None,
    }


def _alteration(call: Call) -> Alteration:
    """Return what a call does to its clip."""
    nothing = unaltered()
    cells, seconds = nothing.cells.ravel(), nothing.seconds
    (seconds if call.kind == "time" else cells)[list(call.places or ())] = True
    return Alteration(cells.reshape(ROWS, COLUMNS), seconds, call.cue)
