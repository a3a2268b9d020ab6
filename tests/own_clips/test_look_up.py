"""What can be scored without opening a video: worked numbers, and bounds."""

import math
from pathlib import Path

import pytest

from bundle_tools.own_clips.dataset import LabelledClip, LookUp, Split, look_up
from bundle_tools.own_clips.files import FileLocation
from bundle_tools.phase_data.settings import Challenge, Target

Labelled = tuple[tuple[str, float], ...]
TRAINING: Labelled = (("a", 0.2), ("a", 0.4), ("b", 0.8))
PHASE: Labelled = (("a", 0.35), ("c", 0.6))


def scored(training: Labelled, phase: Labelled, *, top: float = 1.0) -> LookUp:
    targets = (Target("other", "Other", 0.0, top), Target("hire", "Hire", 0.0, top))
    parts = [
        Split(
            name,
            tuple(
                LabelledClip(f"{source}.mp4", source, FileLocation(Path()), (0.0, top * label))
                for source, label in rows
            ),
        )
        for name, rows in (("training", training), ("final", phase))
    ]
    return look_up(Challenge(targets=targets, main_target="hire"), *parts)


@pytest.mark.parametrize("top", [1.0, 10.0])
def test_worked_numbers_are_shares_of_the_range(top: float) -> None:
    found = scored(TRAINING, PHASE, top=top)
    assert found.siblings == 1
    # The training mean is 1.4 / 3; the clip of "a" is given 0.3, that of "c" the mean.
    mean = 1.4 / 3
    assert found.constant == pytest.approx(1 - ((mean - 0.35) + (0.6 - mean)) / 2)
    assert found.accuracy_siblings == pytest.approx(1 - 0.05)
    assert found.accuracy == pytest.approx(1 - (0.05 + (0.6 - mean)) / 2)
    # Deviations 0.125 and 1/12; means 0.475 and 0.3833.
    if top == 1:
        spread = 0.125**2 + 1 / 144 + (0.475 - (0.3 + mean) / 2) ** 2
        assert found.ccc == pytest.approx(2 * 0.125 / 12 / spread)


def test_bounds() -> None:
    unknown = scored(TRAINING, (("x", 0.1), ("y", 0.9)))
    assert (unknown.siblings, unknown.ccc, unknown.accuracy) == (0, 0, unknown.constant)
    assert math.isnan(unknown.accuracy_siblings)
    alike = scored((("a", 0.1), ("b", 0.9)), (("a", 0.1), ("b", 0.9)))
    assert (alike.accuracy, alike.accuracy_siblings) == (1, 1)
    assert (alike.ccc, alike.constant) == pytest.approx((1, 0.6))
