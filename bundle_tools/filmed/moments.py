"""Which moment of a shot is shown in place of each frame: smooth ways through time, by dynamic programming.

Two ways are searched: that of B, whose expression is unlike the clip's, and that of A', whose expression is like it.
Both jump between moments at the same frames, so a jump tells nothing. All prices were chosen on real clips.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bundle_tools.filmed.face import EYES, MOUTH, Array, smoothed

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]

TURNS = (4.0, 4.0, 10.0, 0.08)
"""Differences of yaw, pitch and roll (degrees) and of the scale's logarithm that cost 1 each."""
KEPT, FURTHEST = 1.5, 9.0
"""Price per squared SD of what is kept, and most squared SD that count."""
SPEED = {MOUTH: 0.0, EYES: 0.7}
"""Price per squared SD by which a moment is faster or slower than the frame: else the eyes of B are livelier."""
UNLIKE, ENOUGH = 0.8, 4.0
"""Price of B per squared SD that lacks to `ENOUGH`, beyond which more difference earns nothing."""
HOLD, JUMP, LEAP = 4.0, 5.0, 2.0
"""Prices of staying at a moment or skipping one, of a jump, and per squared SD by which the expression leaps there."""
SHAM_LEAPS = (2.0, 0.0, -0.3)
"""Prices of a leap for A', of which that one counts with which it moves as much as B."""
GUARD_S = 0.4
"""Moments nearer to a frame than this are not shown in its place; a shorter step is no jump; seconds."""
COVERED = 80.0
"""Largest difference of colour around a part, in levels of 255: beyond, a hand, hair or a microphone covers it.

Landmarks do not tell: they are guessed behind a hand, and those around a part move with the jaw.
"""
TURN = 9.0
"""Largest price of a turn that is not seen."""
BAD_SHARE = 0.05
"""A part with more frames than this that no moment fits is not offered."""
APART = 0.5
"""A part is offered if B's expression is by so much further from the clip's than that of A', SD."""
NEVER = 1e6
"""Price of a moment that must not be shown."""


@dataclass(frozen=True)
class Costs:
    """Prices of showing a moment in place of a frame, (frames, moments)."""

    sham: Array
    """For A'."""
    other: Array
    """For B."""
    turn: Array
    """Of the head alone."""
    rest: Array
    """Squared SD between their expressions, of what may differ."""
    allowed: Flags
    """Whether the moment may be shown there."""


@dataclass(frozen=True)
class Ways:
    """The moments of both versions for each frame of a shot, and what was measured of them."""

    sham: Numbers
    """Of A'; numbers of frames within the shot, (n,)."""
    other: Numbers
    """Of B."""
    jumps: Flags
    """Frames at which both jump, (n,)."""
    turned: float
    """Share of frames in which one of both shows a head turned by more than `TURN`, or what is not allowed."""
    dearest: float
    """Largest price of a turn that is shown."""
    apart: float
    """By how much B's expression is further from the clip's than that of A', SD."""
    holds: tuple[float, float]
    """Share of frames at which A' and B stay at a moment."""


def differences(surroundings: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the largest difference of colour around the part between each two frames of a shot, (n, n).

    `surroundings`: colours of cells around it, (n, k, 3).
    """
    most = np.zeros((len(surroundings),) * 2, surroundings.dtype)
    for cell in range(surroundings.shape[1]):  # one at a time: all together take a gigabyte
        colours = surroundings[:, cell]
        most = np.maximum(most, np.abs(colours[:, None] - colours[None]).sum(-1))
    return most


def costs(part: str, poses: Array, expression: Array, covered: NDArray[np.float32], calm: Array, guard: int) -> Costs:
    """Return what each moment costs in place of each frame of the same shot.

    `poses`: see `face.pose`. `expression`: of the part, (n, k). `covered`: see `differences`. `calm`: frames in which B
    must be like the clip, too, 1 there and 0 elsewhere, (n,). `guard`: frames.
    """
    count = len(poses)
    turn = ((np.abs(poses[:, None] - poses[None]) / TURNS) ** 2).sum(-1)
    squared = (expression[:, None] - expression[None]) ** 2
    kept, rest = KEPT * np.minimum(squared[..., 0], FURTHEST), squared[..., 1:].sum(-1)
    if SPEED[part]:
        speed = np.append(np.linalg.norm(np.diff(expression, axis=0), axis=1), 0)
        speed = smoothed(speed).astype(np.float64)
        speed = (speed - speed.mean()) / max(float(speed.std()), 1e-9)
        kept += SPEED[part] * np.minimum((speed[:, None] - speed[None]) ** 2, FURTHEST)
    numbers = np.arange(count)
    allowed = (np.abs(numbers[:, None] - numbers[None]) >= guard) & (covered <= COVERED)
    unlike = UNLIKE * (ENOUGH - np.minimum(rest, ENOUGH))
    other = calm[:, None] * rest + (1 - calm[:, None]) * unlike
    sham, other = turn + kept + rest, turn + kept + other
    return Costs(np.where(allowed, sham, NEVER), np.where(allowed, other, NEVER), turn, rest, allowed)


def ways(part: str, prices: Costs, expression: Array, shown: Array, calm: Array, guard: int) -> Ways:
    """Return the cheapest ways of A' and B.

    `shown`: share of a moment in each frame; 0 where the clip's own part stays, (n,). `calm`, `guard`: see `costs`.
    """
    counts = shown > 0

    def moves(way: Numbers) -> float:
        return float(np.abs(np.diff(expression[way], axis=0))[counts[1:]].mean())

    other = cheapest(prices.other * counts[:, None], _leaps(expression, guard, LEAP))
    steps = np.diff(other)
    jumps = np.concatenate([[False], (steps < 0) | (steps > 2)])
    shams = (cheapest(prices.sham * counts[:, None], _leaps(expression, guard, leap), jumps) for leap in SHAM_LEAPS)
    sham = min(shams, key=lambda way: abs(moves(way) - moves(other)))
    frames, free = np.arange(len(other)), counts & (calm == 0)
    bad = np.zeros(len(other), np.bool_)
    distance, dearest = [], 0.0
    for way in (sham, other):
        bad |= (prices.turn[frames, way] > TURN) | ~prices.allowed[frames, way]
        dearest = max(dearest, float(np.max(prices.turn[frames, way], where=counts, initial=0)))
        distance.append(float(np.sqrt(prices.rest[frames, way][free]).mean()) if free.any() else 0.0)
    holds = tuple(float((np.diff(way)[~jumps[1:]] == 0).mean()) for way in (sham, other))
    turned = float(bad[counts].mean()) if counts.any() else 1.0
    return Ways(sham, other, jumps, turned, dearest, distance[1] - distance[0], (holds[0], holds[1]))


def _leaps(expression: Array, guard: int, price: float) -> Array:
    """Return the price of going on with a moment (column) after another (row) by a jump; infinite within `guard`."""
    count = len(expression)
    after = np.minimum(np.arange(count) + 1, count - 1)
    squared = ((expression[after][:, None] - expression[None]) ** 2).sum(-1)
    numbers = np.arange(count)
    near = np.abs(numbers[:, None] + 1 - numbers[None]) < guard
    return np.where(near, np.inf, price * np.minimum(squared, FURTHEST))


def cheapest(cost: Array, leap: Array, jumps: Flags | None = None) -> Numbers:
    """Return the cheapest way through the moments, one for each frame, (frames,).

    From frame to frame the moment goes on by one, stays or skips one, or jumps.

    `cost`: of each moment at each frame, (frames, moments). `leap`: see `_leaps`. `jumps`: frames at which the way must
    jump, and may nowhere else; None leaves it free, at a price.
    """
    frames, count = cost.shape
    numbers, never = np.arange(count), np.full(count, np.inf)
    total, back = cost[0].copy(), np.zeros((frames, count), np.int64)
    before = [np.maximum(numbers - step, 0) for step in (1, 2, 0)]
    for frame in range(1, frames):
        forced = jumps is not None and bool(jumps[frame])
        jump, origin = never, numbers
        if jumps is None or forced:
            arriving = total[:, None] + leap
            origin = arriving.argmin(0)
            jump = arriving[origin, numbers] + (0 if forced else JUMP)
        if forced and np.isfinite(jump).any():
            options = np.stack([never, never, never, jump])
        else:
            on = np.concatenate([[np.inf], total[:-1]])
            skip = np.concatenate([[np.inf, np.inf], total[:-2]]) + HOLD
            options = np.stack([on, skip, total + HOLD, jump])
        back[frame] = np.choose(options.argmin(0), [*before, origin])
        total = options.min(0) + cost[frame]
    way = np.empty(frames, np.int64)
    way[-1] = total.argmin()
    for frame in range(frames - 1, 0, -1):
        way[frame - 1] = back[frame, way[frame]]
    return way
