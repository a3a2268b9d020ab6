"""Gain from submitting variants in a closed phase: the formula of `bundle check` compared with simulated attackers.

Labels are drawn, with predictions of skill `SKILL_BEFORE`. Five submissions move every prediction up or down at random.
The sixth is the best linear estimate of the labels from the rounded scores of these five, with covariances from drawn
labels. One attacker sees only the scores that depend on labels, another also metrics of single targets.
"""

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from bundle_tools.challenge.label_budget import SKILL_BEFORE, gain

Array = NDArray[np.float64]
CLIPS, TARGETS, SUBMISSIONS, DRAWS, ROUNDS = (24, 60, 120), 6, 6, 8000, 20
SPREAD, STEP, RIDGE, SEED = 0.14, 3.0, 1e-3, 20170726
REFERENCE = 0.04
"""Mean absolute error with full credit."""
GATE, AXES, CAUSES = 0.1, 0.5, 0.2
"""Assumptions about the total: the gate, and what the other axes and the known causes add to the mean."""


def scores(truth: Array, predicted: Array, *, cells: bool) -> Array:
    """Return the rounded scores, (m, 7) or (m, 7 + cells), of (n, k) predictions for each of m sets of labels."""
    error, squares = np.abs(truth - predicted), (truth - predicted) ** 2
    mae, always = error.mean(axis=1), np.abs(truth - 0.5).mean(axis=1)
    around = (truth - truth.mean(axis=1, keepdims=True)) ** 2
    ccc = 1 - squares.sum(axis=1) / (around + (predicted - truth.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    skill = np.clip(1 - mae / always, -1, 1)
    credit = np.clip((always - mae) / (always - REFERENCE), 0, 1).mean(axis=1)
    causes = (error[:, :, -1] < GATE).mean(axis=1)
    told = [credit * (AXES + CAUSES * np.sqrt(causes)) ** 2, causes, skill.mean(axis=1)]
    told += [one for of in (1 - mae, ccc) for one in (of[:, -1], of[:, :-1].mean(axis=1))]
    fine = np.round(np.stack(told, axis=1), 4)
    r2 = 1 - squares.sum(axis=1) / around.sum(axis=1)
    return np.hstack([fine, *(np.round([1 - mae, r2, ccc, skill], 2) if cells else [])])


def attack(clips: int, rng: np.random.Generator, *, cells: bool) -> float:
    """Return the skill gained by the last submission over the original predictions."""
    # Residual spread of the labels given a predictor of this skill.
    left = SPREAD * (1 - SKILL_BEFORE)
    base = 0.5 + np.sqrt(SPREAD**2 - left**2) * rng.standard_normal((clips, TARGETS))
    truth, drawn = (base + left * rng.standard_normal((count, clips, TARGETS)) for count in (1, DRAWS))
    variants = [base + STEP * left * rng.choice([-1, 1], base.shape) for _ in range(SUBMISSIONS - 1)]
    known = np.hstack([scores(drawn, one, cells=cells) for one in variants])
    seen = np.hstack([scores(truth, one, cells=cells) for one in variants])[0]
    centre, scale = known.mean(axis=0), known.std(axis=0) + 1e-9
    known, seen = (known - centre) / scale, (seen - centre) / scale
    weights = np.linalg.solve(known.T @ known / DRAWS + RIDGE * np.eye(len(seen)), seen)
    guess = base + np.tensordot(known @ weights, drawn - drawn.mean(axis=0), 1) / DRAWS
    always = np.abs(truth[0] - 0.5).mean(axis=0)
    return float(((np.abs(truth[0] - base).mean(axis=0) - np.abs(truth[0] - guess).mean(axis=0)) / always).mean())


if __name__ == "__main__":
    print(f"{SUBMISSIONS} submissions, {TARGETS} targets, {ROUNDS} rounds\n clips  formula  scores  with targets")
    for clips in CLIPS:
        rng = np.random.default_rng(SEED)
        found = [np.mean([attack(clips, rng, cells=cells) for _ in range(ROUNDS)]) for cells in (False, True)]
        print(
            f"{clips:>6}  {gain(7, clips * TARGETS, SUBMISSIONS):7.3f}  {found[0]:6.3f}  {found[1]:12.3f}", flush=True
        )
