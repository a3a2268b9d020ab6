"""What a story gains on recorded answers of the real pipeline: five sets, one table of totals."""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from score.axes import text
from score.axes.table import AxisSums
from score.order import yardstick
from score.text import reading
from tests.meaning.recorded import HONEST, KEYS, Recorded, read
from tests.meaning.sets import SETS
from tests.meaning.table import NOISE

Array = NDArray[np.float64]
Value = Callable[..., float]
ORDERS = ("usual", "fixed", "three_quarters", "reversed", "whole_person", "flat_wall_fixed")
FALSE = (*ORDERS, "flat_wall", "even_time", "noise_0.5", "noise_1", "noise_2", "random", "boilerplate", "other_clip")
FITS = ("faithfulness_space", "faithfulness_time")
MOST_IN_THE_MEAN, MOST_ON_ANY = 1.0, 2.5
"""Points that a story may gain by chance."""
RESAMPLES = 400


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Recorded]:
    return {name: read(name, tmp_path_factory.mktemp(name)) for name in SETS}


@pytest.fixture(scope="module")
def tables(sets: dict[str, Recorded]) -> dict[tuple[str, str], AxisSums]:
    with pytest.MonkeyPatch.context() as patched:
        # Most stories have the honest text, which is then read once.
        for module, name in ((text, "text_validity"), (reading, "claim_set"), (reading, "parse_levels")):
            patched.setattr(module, name, lru_cache(None)(getattr(module, name)))
        return {(name, key): one.table(one.told_by(key)) for name, one in sets.items() for key in KEYS}


@pytest.fixture(scope="module")
def value(sets: dict[str, Recorded], tables: dict[tuple[str, str], AxisSums]) -> Value:
    found = {(name, key): sets[name].values(table) for (name, key), table in tables.items()}

    def of(name: str, key: str, column: str = "explanation") -> float:
        return float(found[name, key][column][0])

    return of


def differences(value: Value, key: str) -> Array:
    return np.array([value(name, key) - value(name, HONEST) for name in SETS])


def test_exact_maps_get_all_and_marks_do_not_move_the_yardstick(sets: dict[str, Recorded]) -> None:
    """Maps that show just the measured effects, then the same permuted, scaled, flattened or left out."""
    one = sets["practice"]
    random = np.random.default_rng(3)

    def exact(clip: int) -> tuple[Array, Array]:
        space, time = np.zeros((9, 16)), np.zeros(5)
        answers = [(call, np.array(call.prediction)) for call in one.outcomes.probes[clip] if call.prediction]
        before = next(answer for call, answer in answers if call.kind == "original")
        for call, answer in answers:
            if call.kind == "unit":
                change = np.abs(before - answer)
                size = 0.5 * change[-1] + 0.5 * change[:-1].mean() + 1e-9
                space.ravel()[list(call.cells)] = size
                time[list(call.seconds)] = size
        return space, time

    maps = [exact(clip) for clip in range(len(one.outcomes.explanations))]

    def told(change: Callable[[Array], Array | None]) -> AxisSums:
        shown = [(change(space), change(time)) for space, time in maps]
        pairs = zip(one.outcomes.explanations, shown, strict=True)
        said = tuple(replace(each, space=space, time=time) for each, (space, time) in pairs)
        return one.table(replace(one.told_by(HONEST), explanations=said))

    table = told(lambda weights: weights)
    assert all(float(one.values(table)[column][0]) >= 0.75 for column in FITS)
    shuffled = told(lambda weights: random.permutation(weights.ravel()).reshape(weights.shape))
    others = (
        shuffled,
        told(lambda weights: 7 * weights),
        told(lambda weights: 1 + 1e-3 * weights),
        told(lambda _: None),
    )
    for column in FITS:
        sums = getattr(table, column).sum(axis=0, keepdims=True)
        for other in others:
            assert yardstick(getattr(other, column).sum(axis=0, keepdims=True)) == pytest.approx(yardstick(sums))


@pytest.mark.parametrize("key", FALSE)
def test_no_story_is_above_its_honest_twin(value: Value, key: str) -> None:
    gains = differences(value, key)
    assert gains.mean() <= MOST_IN_THE_MEAN
    assert gains.max() <= MOST_ON_ANY


def test_the_usual_order_is_well_below_whatever_people_are_drawn(
    sets: dict[str, Recorded], tables: dict[tuple[str, str], AxisSums], value: Value
) -> None:
    assert differences(value, "usual").mean() <= -8
    random, means, deviations = np.random.default_rng(1), [], []
    for name, one in sets.items():
        people, source = np.unique(one.outcomes.sources, return_inverse=True)
        drawn = random.integers(0, len(people), (RESAMPLES, len(people)))
        weights = np.stack([np.bincount(row, minlength=len(people)) for row in drawn])[:, source].astype(np.float64)
        usual, honest = (one.values(tables[name, key], weights)["explanation"] for key in ("usual", HONEST))
        means.append((usual - honest).mean())
        deviations.append((usual - honest).std())
    assert np.mean(means) <= -2.5 * np.sqrt(np.square(deviations).sum()) / len(SETS)


def test_other_orders_are_below_on_every_set(value: Value) -> None:
    assert differences(value, "three_quarters").max() < 0
    assert differences(value, "reversed").max() <= -18


def test_a_textbook_method_is_above_the_lie_of_one_order_on_every_set(value: Value) -> None:
    assert (differences(value, "gradient") - differences(value, "usual")).min() > 5


def test_noise_is_ordered_at_every_step(value: Value) -> None:
    for name in SETS:
        totals = [value(name, key) for key in NOISE]
        assert all(less > more for less, more in pairwise(totals)), (name, totals)


@pytest.mark.parametrize("key", ["random", "boilerplate", "other_clip"])
def test_who_knows_nothing_is_at_chance(value: Value, key: str) -> None:
    for column in (*FITS, "cue_claims", "known_causes"):
        assert np.mean([value(name, key, column) for name in SETS]) < 0.1


def test_the_order_of_clips_does_not_matter(sets: dict[str, Recorded]) -> None:
    one = sets["final"]
    back = slice(None, None, -1)
    turned = replace(
        one.outcomes,
        **{name: getattr(one.outcomes, name)[back] for name in ("clip_ids", "statuses", "explanations", "probes")},
        **{name: getattr(one.outcomes, name)[back] for name in ("repeats", "prediction", "truth", "sources")},
    )
    own = one.values(one.table(one.outcomes))
    for column, found in one.values(one.table(turned)).items():
        assert found == pytest.approx(own[column])
