"""Each measurement follows its own cue: drawn again with more of it, the clip measures as more of it."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from cuereader.features import FEATURES, Reading, read_clip
from cuereader.speech import beats, loudness, syllables, telling_words, valence
from numpy.typing import NDArray

from bundle_tools.synthetic.clip import FRAMES, ClipSpec, scene_of, script_of
from bundle_tools.synthetic.dataset import plan
from bundle_tools.synthetic.exchange import with_others
from bundle_tools.synthetic.script import RATE, speak, write_script
from tests.solutions.conftest import Solution

SIGNS = {"mouth_curve": 1, "gaze_white": -1, "sweep": 1, "tilt": -1, "eye_white": 1, "face_size": 1}
NAMES = [name for name, _ in FEATURES]


class DrawnClip:
    """A clip drawn when it is asked for, without going through a file."""

    duration_s = 5.0

    def __init__(self, spec: ClipSpec) -> None:
        self._scene = scene_of(spec)
        self.transcript = script_of(spec).text

    def frames(self, count: int) -> Iterator[NDArray[np.uint8]]:
        for index in ((np.arange(count) + 0.5) * FRAMES / count).astype(int):
            yield np.ascontiguousarray(self._scene.draw(int(index))[..., ::-1])

    def audio(self, _rate: int) -> None:
        return None


def read_drawn(spec: ClipSpec) -> Reading:
    return read_clip(DrawnClip(spec))  # type: ignore[arg-type]  # it has what is measured, and no more


@pytest.fixture(scope="module")
def spec() -> ClipSpec:
    return plan("training", clips=6, seed=31)[2].spec


def measured(spec: ClipSpec, *features: str) -> NDArray[np.float64]:
    """Draw a clip with much of the cues of some features and little of the others, and measure it."""
    levels = {cue: 0.9 if feature in features else 0.1 for feature, cue in FEATURES if feature in SIGNS}
    return read_drawn(replace(spec, cues=replace(spec.cues, **levels))).values


@pytest.fixture(scope="module")
def little(spec: ClipSpec) -> NDArray[np.float64]:
    return measured(spec)


def test_every_measurement_follows_its_cue_when_all_change(
    spec: ClipSpec, little: NDArray[np.float64], reader: Solution
) -> None:
    change = dict(zip(NAMES, (measured(spec, *SIGNS) - little) / reader.additive.scales, strict=True))
    assert {feature: change[feature] * sign > 1 for feature, sign in SIGNS.items()} == dict.fromkeys(SIGNS, True)


def test_measurements_are_those_that_the_weights_were_trained_on(little: NDArray[np.float64], reader: Solution) -> None:
    trained = [
        *(-0.02805, 0.00933, -0.03109, 0.1417, 0.1761, 0.0096, -0.6525, 0.0, 6.803, 0.366, 0.3011, 49.56),
        *(np.nan, 3.8, -1.0),  # no sound
    ]
    np.testing.assert_allclose(little / reader.additive.scales, trained / reader.additive.scales, rtol=0, atol=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(("feature", "sign"), SIGNS.items())
def test_a_measurement_follows_its_cue(
    spec: ClipSpec, little: NDArray[np.float64], feature: str, sign: int, reader: Solution
) -> None:
    change = (measured(spec, feature) - little) / reader.additive.scales
    assert change[NAMES.index(feature)] * sign > 1


@pytest.mark.parametrize(
    ("part", "cue"),
    [
        ("mouth", "smile"),
        pytest.param("eyes", "gaze", marks=pytest.mark.slow),
        pytest.param("hand", "motion", marks=pytest.mark.slow),
    ],
)
def test_an_exchange_shows_as_much_on_the_other_side(spec: ClipSpec, part: str, cue: str, reader: Solution) -> None:
    """The explanation says how far a part is from the ordinary: its counterpart is about as far on the other side."""
    lively = replace(spec, cues=replace(spec.cues, smile=0.95, gaze=0.05, motion=0.95))
    first = [of for _, of in FEATURES].index(cue)
    own, other = (
        reader.additive.standardised(read_drawn(one).values)[first] for one in (lively, with_others(lively, [part]))
    )
    assert abs(own - other) > 1.6
    assert abs(own + other) < 0.7 * abs(own - other)


def test_faster_speech_has_more_beats(spec: ClipSpec) -> None:
    rates = []
    for level in (0.0, 0.5, 1.0):
        script = write_script(spec.seed, words=0.5, speech_rate=level, duration_s=5)
        sound = speak(spec.seed, spec.cast, script, 5)
        rates.append(beats(loudness(sound, RATE)))
        assert rates[-1] * 5 == pytest.approx(len(script.onsets), abs=2)
        assert syllables(script.text) == pytest.approx(len(script.onsets), abs=2)
    assert rates == sorted(rates)


def test_words_by_hand() -> None:
    # splendid 2, boring -1, normal 0: the mean is 1/3.
    assert valence("Work was splendid. It seems boring. Life is normal.") == pytest.approx(1 / 3)
    assert telling_words("Awful, but GOOD.") == ["awful", "good"]
    assert valence("") == 0.0
    assert beats(np.zeros(200)) == 0.0
