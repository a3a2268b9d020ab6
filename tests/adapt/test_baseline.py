"""What can be scored without opening a video: worked numbers, and bounds."""

import math
from pathlib import Path

import pytest

from bundle_tools.adapt.baseline import look_up
from bundle_tools.adapt.dataset import Clip, Dataset, Part, Target
from bundle_tools.adapt.places import Place


def clips(*labelled: tuple[str, float]) -> tuple[Clip, ...]:
    return tuple(
        Clip(f"{source}.{number}", source, Place(Path()), (0.0, label))
        for number, (source, label) in enumerate(labelled)
    )


def scored(training: tuple[Clip, ...], phase: tuple[Clip, ...], *, top: float = 1.0) -> tuple[float, ...]:
    targets = (Target("other", "Other", 0.0, top), Target("hire", "Hire", 0.0, top))
    dataset = Dataset("tiny", targets, "hire", (*training, *phase))
    found = look_up(dataset, training, Part("final", phase, phase=True, closed=True))
    return found.siblings, found.constant, found.accuracy, found.accuracy_siblings, found.ccc


TRAINING = (("a", 0.2), ("a", 0.4), ("b", 0.8))
PHASE = (("a", 0.35), ("c", 0.6))


def test_worked_numbers() -> None:
    siblings, constant, accuracy, known, ccc = scored(clips(*TRAINING), clips(*PHASE))
    assert siblings == 1
    # The training mean is 1.4 / 3; the clip of "a" is given 0.3, that of "c" the mean.
    mean = 1.4 / 3
    assert constant == pytest.approx(1 - ((mean - 0.35) + (0.6 - mean)) / 2)
    assert known == pytest.approx(1 - 0.05)
    assert accuracy == pytest.approx(1 - (0.05 + (0.6 - mean)) / 2)
    # Deviations 0.125 and 1/12; means 0.475 and 0.3833.
    assert ccc == pytest.approx(2 * 0.125 / 12 / (0.125**2 + 1 / 144 + (0.475 - (0.3 + mean) / 2) ** 2))


def test_errors_are_shares_of_the_range() -> None:
    wide = [tuple((source, 10 * label) for source, label in rows) for rows in (TRAINING, PHASE)]
    assert scored(clips(*wide[0]), clips(*wide[1]), top=10) == pytest.approx(scored(clips(*TRAINING), clips(*PHASE)))


def test_without_known_videos_looking_up_is_the_constant() -> None:
    siblings, constant, accuracy, known, ccc = scored(clips(*TRAINING), clips(("x", 0.1), ("y", 0.9)))
    assert (siblings, ccc) == (0, 0)
    assert accuracy == constant
    assert math.isnan(known)


def test_perfect_where_videos_have_one_label() -> None:
    _, constant, accuracy, known, ccc = scored(clips(("a", 0.1), ("b", 0.9)), clips(("a", 0.1), ("b", 0.9)))
    assert (accuracy, known) == (1, 1)
    assert ccc == pytest.approx(1)
    assert constant == pytest.approx(0.6)
