"""Cues of one clip: what was claimed about them, and what taking them away changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from score.evaluation.clip_numbers import ClipNumbers
from score.read.output.explanation_record import Claim
from score.report.content.explanations import ClaimRow
from score.report.numbers import NONE, signed
from score.settings import Target
from score.visible import one_line

_MOST_TOLD = 12
_PLACES = 3


def claim_rows(numbers: ClipNumbers, claims: Sequence[Claim], target: Target) -> tuple[ClaimRow, ...]:
    """List the cues that were taken away: the claimed ones first, the largest claims first.

    Parameters
    ----------
    numbers
        Of the clip.
    claims
        What the explanation submitted about any target.
    target
        The target on which the explanation is judged; changes are shown in its range.
    """
    cues = sorted(numbers.edited, key=lambda cue: (-abs(numbers.claimed.get(cue, 0.0)), cue))
    return tuple(_row(cue, numbers, _Claimed(claims, target), target) for cue in cues)


def untested(numbers: ClipNumbers, claims: Sequence[Claim], target: Target) -> Iterable[str]:
    """Say which claims were not tested on a clip; parameters as of `claim_rows`."""
    claimed = _Claimed(claims, target)
    left = sorted(numbers.claimed.keys() - numbers.edited.keys(), key=lambda cue: (-abs(numbers.claimed[cue]), cue))
    told = [f"{_words(cue)} {claimed.words(numbers.claimed[cue])}" for cue in left[:_MOST_TOLD]]
    if told:
        more = f" and {len(left) - _MOST_TOLD} more" if len(left) > _MOST_TOLD else ""
        yield f"Also said, not tested on this clip: {', '.join(told)}{more}."
    others = sum(claim.target != target.name for claim in claims)
    if others:
        yield f"{others} more about other targets." if others > 1 else "One more about another target."


@dataclass(frozen=True)
class _Claimed:
    """How a claim is written: with its size where the evidence gives one, else in the text's words."""

    claims: Sequence[Claim]
    target: Target

    def words(self, value: float) -> str:
        """Write one claim, in [-1, 1] and not 0."""
        if any(claim.target == self.target.name and claim.contribution for claim in self.claims):
            return signed(value * (self.target.maximum - self.target.minimum), _PLACES)
        return "raised" if value > 0 else "lowered"


def _words(cue: str) -> str:
    return one_line(cue.replace("_", " "), 40)


def _row(cue: str, numbers: ClipNumbers, written: _Claimed, target: Target) -> ClaimRow:
    claimed, change = numbers.claimed.get(cue, 0.0), numbers.edited[cue]
    claimed_sign = (claimed > 0) - (claimed < 0)
    measured_sign = 0
    if change is None:
        measured, state, agrees = "no valid answer", "bad", "counts as worst"
    elif abs(change) < numbers.epsilon:
        measured, (state, agrees) = "no effect", _judge(claimed_sign, 0)
    else:
        measured_sign = (change > 0) - (change < 0)
        measured = signed(change * (target.maximum - target.minimum), _PLACES)
        state, agrees = _judge(claimed_sign, measured_sign)
    return ClaimRow(
        cue=_words(cue),
        claimed=written.words(claimed) if claimed_sign else NONE,
        claimed_sign=claimed_sign,
        measured=measured,
        measured_sign=measured_sign,
        state=state,
        agrees=agrees,
    )


def _judge(claimed: int, measured: int) -> tuple[str, str]:
    if claimed and measured:
        return ("good", "agrees") if claimed == measured else ("bad", "the other way")
    if claimed:
        return "bad", "nothing moved"
    return ("bad", "not named") if measured else ("good", "rightly left out")
