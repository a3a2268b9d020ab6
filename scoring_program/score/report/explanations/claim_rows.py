"""Cues of one clip: the claimed effect, and the change when the cue was made neutral."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from score.evaluation.clip_numbers import ClipNumbers
from score.read.output.explanation_record import Claim
from score.report.numbers import NONE, signed
from score.settings import Target
from score.visible import in_words

_MOST_TOLD = 12
_PLACES = 3


@dataclass(frozen=True)
class ClaimRow:
    """One cue: what was claimed and what was measured."""

    cue: str
    claimed: str
    """Signed and rounded, or a dash."""
    claimed_sign: int
    """1, -1 or 0."""
    measured: str
    """Signed and rounded, or the reason why there is none."""
    measured_sign: int
    """1, -1 or 0."""
    state: str
    """``good`` or ``bad``."""
    agrees: str
    """Whether claim and measurement agree, in words."""


def claim_rows(numbers: ClipNumbers, claims: Sequence[Claim], target: Target) -> tuple[ClaimRow, ...]:
    """List the cues that were made neutral, the largest claims first.

    `target`: the target on which the explanation is judged; changes are shown in its range.
    """
    cues = sorted(numbers.edited, key=lambda cue: (-abs(numbers.claimed.get(cue, 0.0)), cue))
    return tuple(_row(cue, numbers, claims, target) for cue in cues)


def untested(numbers: ClipNumbers, claims: Sequence[Claim], target: Target) -> Iterable[str]:
    """Describe the claims that were not tested on a clip; parameters as for `claim_rows`."""
    left = sorted(numbers.claimed.keys() - numbers.edited.keys(), key=lambda cue: (-abs(numbers.claimed[cue]), cue))
    told = [f"{in_words(cue, 40)} {_size(numbers.claimed[cue], claims, target)}" for cue in left[:_MOST_TOLD]]
    if told:
        more = f" and {len(left) - _MOST_TOLD} more" if len(left) > _MOST_TOLD else ""
        yield f"Claimed but not tested on this clip: {', '.join(told)}{more}."
    others = sum(claim.target != target.name for claim in claims)
    if others:
        yield f"{others} more claims about other targets." if others > 1 else "One more claim about another target."


def _size(claimed: float, claims: Sequence[Claim], target: Target) -> str:
    """Return the claim's size if the evidence gives one, else the direction stated in the text."""
    if not claimed:
        return NONE
    if any(claim.target == target.name and claim.contribution for claim in claims):
        return signed(claimed * (target.maximum - target.minimum), _PLACES)
    return "raised" if claimed > 0 else "lowered"


def _row(cue: str, numbers: ClipNumbers, claims: Sequence[Claim], target: Target) -> ClaimRow:
    claimed, change = numbers.claimed.get(cue, 0.0), numbers.edited[cue]
    said, claimed_sign = _size(claimed, claims, target), (claimed > 0) - (claimed < 0)
    if change is None:
        return ClaimRow(cue, said, claimed_sign, "no valid answer", 0, "bad", "counts as worst")
    if abs(change) < numbers.epsilon:
        return ClaimRow(cue, said, claimed_sign, "no effect", 0, *_judge(claimed_sign, 0))
    measured, measured_sign = signed(change * (target.maximum - target.minimum), _PLACES), 1 if change > 0 else -1
    return ClaimRow(cue, said, claimed_sign, measured, measured_sign, *_judge(claimed_sign, measured_sign))


def _judge(claimed: int, measured: int) -> tuple[str, str]:
    if claimed and measured:
        return ("good", "agrees") if claimed == measured else ("bad", "opposite sign")
    if claimed:
        return "bad", "no effect"
    return ("bad", "not claimed") if measured else ("good", "rightly not claimed")
