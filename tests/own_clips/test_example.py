"""The example for own clips: a sum whose terms are the explanation, trained on any footage."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bundle_tools.own_clips.bundle.make import EXAMPLE
from score.text import Vocabulary, parse_claims
from tests import there
from training import Labelled, errors_of_unseen

CUES = ["motion", "lighting", "voice", "words"]
LEARNED = {
    "main_target": "warmth",
    "vocabulary": CUES,
    "means": [0.5, 0.1, -30.0, 2.0],
    "scales": [0.1, 0.05, 5.0, 1.0],
    "targets": {
        "warmth": {"title": "Warmth", "minimum": 1.0, "maximum": 7.0, "mean": 4.0, "weights": [0.6, -0.3, 0.5, 0.2]},
        "calm": {"title": "Calm", "minimum": 0.0, "maximum": 1.0, "mean": 0.5, "weights": [0.0, -0.1, 0.0, 0.0]},
    },
}


class DrawnClip:
    """Grey frames that get lighter, a hum, and some words."""

    def __init__(self, level: float = 0.6, loudness: float | None = 0.1, transcript: str = "a b c d") -> None:
        self.level, self.loudness, self.transcript, self.duration_s = level, loudness, transcript, 4.0

    def frames(self, count: int, size: tuple[int, int]) -> Any:  # noqa: ANN401
        width, height = size
        for number in range(count):
            frame = np.full((height, width, 3), 255 * self.level, np.uint8)
            frame[: height // 3, : (number % 4 + 1) * width // 8] = 255
            yield frame

    def frame_at(self, time_s: float, size: tuple[int, int]) -> NDArray[np.uint8]:
        del time_s
        return np.zeros((size[1], size[0], 3), np.uint8)

    def audio(self, rate: int) -> NDArray[np.float32] | None:
        if self.loudness is None:
            return None
        return (self.loudness * np.sin(np.arange(4 * rate) / 20)).astype(np.float32)


def module(name: str) -> ModuleType:
    """Import a file of the example under a name of its own: other solutions have a `model`, too."""
    spec = there(importlib.util.spec_from_file_location(f"linear_{name}", EXAMPLE / f"{name}.py"))
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.fixture
def model(tmp_path: Path) -> Any:  # noqa: ANN401
    (tmp_path / "weights.json").write_text(json.dumps(LEARNED))
    return module("model").Model(tmp_path)


@pytest.mark.parametrize(
    "clip", [DrawnClip(), DrawnClip(0.2, None, ""), DrawnClip(0.5, 0.0), DrawnClip(0.5, 0.03, "words " * 20)]
)
def test_the_claims_add_up_to_the_prediction_and_the_text_says_the_same(model: Any, clip: DrawnClip) -> None:  # noqa: ANN401
    prediction = model.predict(clip)
    told = model.explain(clip, prediction)
    for name, target in LEARNED["targets"].items():  # type: ignore[attr-defined]
        parts = {one["cue"]: one["contribution"] for one in told["evidence"]["cues"] if one["target"] == name}
        whole = target["mean"] + sum(parts.values()) * (target["maximum"] - target["minimum"])
        assert prediction[name] == pytest.approx(np.clip(whole, target["minimum"], target["maximum"]))
        if name == "warmth":
            vocabulary = Vocabulary(cues=tuple(CUES), targets=("warmth", "calm"), main="warmth", aliases={})
            read = {claim.cue: claim.sign for claim in parse_claims(told["text"], vocabulary)}
            largest = sorted(parts.items(), key=lambda one: -abs(one[1]))[:3]
            assert read == {cue: np.sign(part) for cue, part in largest if abs(part) >= 0.005}


def test_what_is_not_there_adds_nothing(model: Any) -> None:  # noqa: ANN401
    silent = model.explain(DrawnClip(0.6, None, ""), model.predict(DrawnClip(0.6, None, "")))
    parts = {(one["cue"], one["target"]): one["contribution"] for one in silent["evidence"]["cues"]}
    assert parts["voice", "warmth"] == parts["words", "warmth"] == 0
    assert parts["lighting", "warmth"] != 0


def test_only_cues_of_the_vocabulary_are_claimed(tmp_path: Path) -> None:
    (tmp_path / "weights.json").write_text(json.dumps({**LEARNED, "vocabulary": ["lighting", "hat"]}))
    model = module("model").Model(tmp_path)
    told = model.explain(DrawnClip(), model.predict(DrawnClip()))
    assert {one["cue"] for one in told["evidence"]["cues"]} == {"lighting"}
    assert "motion" not in told["text"]


def test_the_map_marks_the_place_that_moves_and_the_timeline_every_second(model: Any) -> None:  # noqa: ANN401
    told = model.explain(DrawnClip(0.5), {"warmth": 4.0, "calm": 0.5})["evidence"]
    places = told["space"]
    assert places.shape == (9, 16)
    assert places[:3, :8].mean() > 2 * places[4:].mean()
    assert [row[:2] for row in told["time"]] == [[0, 1], [1, 2], [2, 3], [3, 4]]


def test_what_stands_still_has_no_weight_however_much_clips_usually_move(model: Any) -> None:  # noqa: ANN401
    light, loudness = np.full((4, 9, 16), 0.5), np.full(4, -30.0)
    motion = np.zeros((4, 9, 16))
    motion[2, 4, 7] = 0.2
    seen = module("model").ClipData(light, motion, loudness, 2.0, 4.0)
    assert np.argwhere(model.where(seen)).tolist() == [[4, 7]]
    assert [start for start, _, weight in model.when(seen) if weight] == [2]


def test_training_finds_what_can_be_found_and_leaves_the_constant_where_nothing_can(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "model", module("model"))
    train = module("train")
    random = np.random.default_rng(7)
    values = random.normal(size=(60, 4))
    values[random.random(values.shape) < 0.1] = np.nan
    values[:, 3] = np.nan
    people = [f"s{number // 3}" for number in range(60)]
    learnable = 3 + np.nan_to_num(values[:, :1]) + 0.1 * random.normal(size=(60, 1))
    skill = {}
    for name, labels in (("learnable", learnable), ("noise", random.normal(size=(60, 1)))):
        data = Labelled([(Path("x"), "")] * 60, people, ("warmth",), labels)
        errors = [errors_of_unseen(train.fitted(one), values, data) for one in train.PENALTIES]
        skill[name] = 1 - min(float(ours[0]) for ours, _ in errors) / float(errors[0][1][0])
        assert errors[-1][0] == pytest.approx(errors[-1][1], rel=1e-3)  # the last penalty leaves the constant
    assert skill["learnable"] > 0.7
    assert -0.01 < skill["noise"] < 0.1
    means, scales, ridge = train.fit(values, learnable, 1.0)
    assert (means[3], scales[3], np.reshape(ridge.coef_, -1)[3]) == (0, 1, 0)
