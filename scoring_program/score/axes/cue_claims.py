"""Cue claims against measured effects: without a cue claimed to raise the target, the prediction should fall."""

import numpy as np
from numpy.typing import NDArray

from score.axes.axis import Account, Axis, ErrorKind, Share, share_of
from score.axes.effects import Effects
from score.order import ratio

Array = NDArray[np.float64]


def claim_sums(claims: Array, effects: Effects, target: NDArray[np.int64]) -> Array:
    """Compare each clip's claims with the effects of its edits, by direction and by size.

    A clip's value is ``(cosine + size) / 2``. The cosine is that of claims and effects over the cues that were edited.
    The size is ``1 - sum |b s - d| / sum |d|``, at least -1, of claims s and effects d. The factor b >= 0 is the one
    that fits all clips of the run best, so claims may have any unit. An effect that noise could have caused is 0.
    Effects have no sign of their own over all clips, so claims that are the same for all clips get about 0.

    A clip weighs as much as its effects: ``sum |d|``. If the model failed on an edit, it counts -1 and weighs as much
    as the heaviest clip; without any edit that was reached, 0 and an average weight.

    `claims`: (n, k, v) claims. `target`: (n,) each clip's evaluated target.
    Returns (n, 2): value times weight, and weight.
    """
    tested = ~np.isnan(effects.edited)
    change = np.where(tested & (np.abs(effects.edited) >= effects.epsilon[:, None]), effects.edited, 0.0)
    claimed = np.where(tested, claims[np.arange(len(claims)), target], 0.0)
    weight = np.abs(change).sum(axis=1)
    lengths = np.sqrt((claimed**2).sum(axis=1) * (change**2).sum(axis=1))
    cosine = ratio((claimed * change).sum(axis=1), lengths)
    squares = float((claimed**2).sum())
    unit = max(0.0, float((claimed * change).sum()) / squares) if squares > 0 else 0.0
    size = np.where(weight > 0, np.maximum(-1.0, 1 - ratio(np.abs(unit * claimed - change).sum(axis=1), weight)), 0.0)
    value = (cosine + size) / 2
    # Effects that noise hides are due, but not claimed: being noisy must not pay.
    whole = np.where(tested, np.abs(effects.edited), 0.0).sum(axis=1)
    seen = whole[weight > 0]
    if seen.size:
        whole = np.where(weight > 0, whole, np.maximum(whole, seen.mean()))
    heaviest = float(seen.max()) if seen.size else 1.0
    whole = np.where(effects.edit_failed, heaviest, whole)
    return np.stack([np.where(effects.edit_failed, -heaviest, value * weight), whole], axis=1)


def _wrong_sign(account: Account) -> Share:
    other_way = np.sign(account.claimed) != np.sign(np.nan_to_num(account.axes.effects.edited))
    return share_of(account.moved & other_way, account.tested & (account.claimed != 0))


NO_CLAIMS = ErrorKind(
    "no_claims",
    "Claim which cues moved the prediction for every clip.",
    "of the clips have no claim.",
    lambda account: share_of(~(account.axes.readings.claims != 0).any(axis=(1, 2)), account.predicted),
)
CUE_CLAIMS = Axis(
    key="cue_claims",
    title="Cue claims",
    meaning="Whether the prediction moves as claimed when a cue is made neutral.",
    shown="Cues",
    value=lambda sums: np.clip(ratio(*sums.cue_claims.T), 0, 1),
    of_clips=lambda sums: ratio(*sums.cue_claims.T),
    error_analysis=(
        NO_CLAIMS,
        ErrorKind(
            "wrong_sign",
            "Correct the sign of claims that say the opposite of what the model does: measure from the neutral cue.",
            "of the tested claims have the wrong sign: without the cue, the prediction moved the other way.",
            _wrong_sign,
        ),
        ErrorKind(
            "no_effect",
            "Do not claim cues that the model does not use.",
            "of the tested claims have no effect: without the cue, the prediction stayed the same.",
            lambda account: share_of(~account.moved, account.tested & (account.claimed != 0)),
        ),
        ErrorKind(
            "silent",
            "Measure better, or claim: cues that you do not claim move your predictions.",
            "of the cues whose removal moved a prediction are not claimed.",
            lambda account: share_of(account.claimed == 0, account.tested & account.moved),
        ),
    ),
    otherwise="Make each claim's size proportional to the cue's effect on the prediction.",
    needs_model=True,
    counts="edited",
)
