"""The kit's exchanges are those of the second pass: other words, another mouth in its second, the same quiet second."""

from typing import Any

import numpy as np
import pytest

from exchanges import AlteredClip, Exchanges, effect
from tests import ROOT

SIZE = (160, 90)


@pytest.fixture(scope="module")
def shown() -> tuple[AlteredClip, dict[str, Any]]:
    exchanges = Exchanges(ROOT / "input_data" / "practice")
    original, units = exchanges[next(iter(exchanges))]
    return original, {unit.kind: unit for unit in units}


def pictures(clip: AlteredClip) -> np.ndarray[Any, Any]:
    return np.array(list(clip.frames(fps=5, size=SIZE)), np.int16)


def test_a_clip_has_all_kinds_of_units(shown: tuple[AlteredClip, dict[str, Any]]) -> None:
    _, units = shown
    assert set(units) == {"mouth", "eyes", "hand", "words", "things", "quiet"}
    assert [kind for kind, unit in units.items() if not unit.cells] == ["words", "quiet"]
    assert [kind for kind, unit in units.items() if not unit.seconds] == ["things"]


def test_a_quiet_second_shows_the_original(shown: tuple[AlteredClip, dict[str, Any]]) -> None:
    original, units = shown
    np.testing.assert_array_equal(pictures(units["quiet"].clip), pictures(original))
    np.testing.assert_array_equal(original.frame_at(2.0), next(original.frames(start_s=2.0)))


def test_a_mouth_differs_most_in_its_second(shown: tuple[AlteredClip, dict[str, Any]]) -> None:
    original, units = shown
    change = np.abs(pictures(units["mouth"].clip) - pictures(original)).mean(axis=(1, 2, 3))
    assert units["mouth"].seconds == (int(change.reshape(5, 5).sum(axis=1).argmax()),)
    assert units["mouth"].clip.transcript == original.transcript


def test_one_word_is_said_and_heard_otherwise(shown: tuple[AlteredClip, dict[str, Any]]) -> None:
    original, units = shown
    words = units["words"].clip
    pairs = list(zip(original.transcript.split(), words.transcript.split(), strict=True))
    assert sum(one != other for one, other in pairs) == 1
    own, other = original.audio(), words.audio()
    assert own is not None
    assert other is not None
    (second,) = units["words"].seconds
    assert second in (np.flatnonzero(own != other) // 16_000).tolist()
    np.testing.assert_array_equal(pictures(words), pictures(original))


def test_an_effect_is_joint_over_all_targets() -> None:
    before, after = (
        {"interview": 0.5, "openness": 0.5, "warmth": 0.5},
        {"interview": 0.3, "openness": 0.6, "warmth": 0.5},
    )
    assert effect(before, after) == pytest.approx(0.5 * 0.2 + 0.5 * 0.05)
    assert effect(before, after, "openness") == pytest.approx(0.5 * 0.1 + 0.5 * 0.1)
    assert effect({"size": 1.0}, {"size": 0.4}, "size") == pytest.approx(0.6)
