"""Clip by clip: where the runs differ most, and what they said there."""

import math
from collections.abc import Sequence

import numpy as np

from bundle_tools.challenge.compare.clips import Contrast, errors, held_up, widest
from bundle_tools.challenge.compare.field import Field
from bundle_tools.challenge.compare.page.content import ClipCell, ClipRow, Clips
from bundle_tools.challenge.compare.page.shown import Shown
from score.axes.effects import evaluated_targets
from score.report.gate import MOST_DECIMALS
from score.report.numbers import NONE, number, signed
from score.visible import visible

MOST_CLIPS = 10
LONGEST_TEXT = 1200


def clips(field: Field, shown: Shown) -> Clips:
    """Choose and write the clips."""
    settings = field.settings
    main = settings.names.index(settings.main_target)
    predicted = np.stack([entry.said.prediction[:, main] for entry in field.entries])
    apart = errors(field, main) if shown.truth else predicted
    judged = evaluated_targets(field.clip_ids, len(settings.targets), main, settings.bootstrap.seed)
    return Clips(
        target=settings.main.title,
        shows_truth=shown.truth,
        predictions=tuple(
            _predicted(field, one.clip, predicted[:, one.clip].tolist(), main, shown)
            for one in widest(apart, MOST_CLIPS)
        ),
        explanations=tuple(
            _explained(field, one, settings.targets[judged[one.clip]].title)
            for one in widest(held_up(field), MOST_CLIPS)
        ),
    )


def _predicted(field: Field, clip: int, predicted: Sequence[float], main: int, shown: Shown) -> ClipRow:
    truth = float(field.truth[clip, main])

    def cell(value: float) -> ClipCell:
        if math.isnan(value):
            return ClipCell(NONE, "failed")
        return ClipCell(number(value, MOST_DECIMALS), signed(value - truth, MOST_DECIMALS) if shown.truth else "")

    about = number(truth, MOST_DECIMALS) if shown.truth else ""
    return ClipRow(field.clip_ids[clip], about, tuple(cell(value) for value in predicted), ())


def _explained(field: Field, contrast: Contrast, target: str) -> ClipRow:
    return ClipRow(
        clip_id=field.clip_ids[contrast.clip],
        about=target,
        cells=tuple(ClipCell(number(value, 2), "") for value in contrast.values),
        texts=tuple(visible(entry.said.texts[contrast.clip], LONGEST_TEXT) for entry in field.entries),
    )
