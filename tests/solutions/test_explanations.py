"""What the example submissions return fits the contract, and their explanations say what the model did."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from cuereader.evidence import EVENTS_AND_WORDS, happens, space_map, spread, time_weights
from cuereader.features import CUES, EVENTS, FEATURES, Reading, read_clip
from cuereader.wording import describe
from numpy.typing import NDArray

from file_clip import FileClip
from tests import ROOT, there
from tests.solutions.conftest import Solution

SAMPLE = ROOT / "public_data"
TASK = yaml.safe_load((ROOT / "input_data" / "practice" / "task.yaml").read_text(encoding="utf-8"))
TARGETS = [target["name"] for target in TASK["targets"]]


class Blank:
    """A clip that shows a grey wall, without sound and words."""

    duration_s, fps, width, height, frame_count, transcript = 2.0, 25.0, 640, 360, 50, ""

    def frames(self, count: int, **_: object) -> list[np.ndarray[Any, Any]]:
        return [np.full((360, 640, 3), 127, np.uint8)] * count

    def audio(self, _rate: int = 16000) -> None:
        return None


@pytest.fixture(scope="module", params=range(2))
def clip(request: pytest.FixtureRequest) -> FileClip:
    path = sorted((SAMPLE / "clips").iterdir())[request.param]
    transcripts = json.loads((SAMPLE / "transcripts.json").read_text(encoding="utf-8"))
    return FileClip(path, transcripts[path.stem])


@dataclass(frozen=True)
class Said:
    """What the cue reader returns of a clip."""

    prediction: dict[str, float]
    explanation: dict[str, Any]


@pytest.fixture(scope="module")
def said(reader: Solution, clip: FileClip) -> Said:
    prediction = reader.predict(clip)
    return Said(prediction, reader.explain(clip, prediction))


@pytest.fixture(scope="module")
def reading(clip: FileClip) -> Reading:
    return read_clip(clip)


def assert_valid(explanation: dict[str, Any], duration_s: float) -> None:
    limits = TASK["explanation"]
    assert limits["text"]["minimum_chars"] <= len(explanation["text"]) <= limits["text"]["maximum_chars"]
    image = explanation["image"]
    assert image is None or (image.shape == (200, 355, 3) and image.dtype == np.uint8)
    evidence = explanation["evidence"] or {}
    space, time, cues = (evidence.get(key) for key in ("space", "time", "cues"))
    if space is not None:
        assert space.ndim == 2
        assert np.isfinite(space).all()
        assert space.min() >= 0
        assert space.max() > space.min()
    if time is not None:
        assert len(time) == np.ceil(duration_s)
        assert min(time) >= 0
    for claim in cues or []:
        assert set(claim) == {"cue", "target", "contribution"}
        assert claim["cue"] in limits["evidence"]["cues"]
        assert claim["target"] in TARGETS
        assert -1 <= claim["contribution"] <= 1


def test_the_cue_reader_explains_validly(said: Said, clip: FileClip) -> None:
    prediction, explanation = said.prediction, said.explanation
    assert list(prediction) == TARGETS
    assert all(0 <= value <= 1 for value in prediction.values())
    assert_valid(explanation, clip.duration_s)
    assert all(explanation["evidence"][key] is not None for key in ("space", "time", "cues"))
    assert f"({prediction['interview']:.2f})" in explanation["text"]


def test_contributions_add_up_to_the_prediction(reader: Solution, said: Said) -> None:
    claims = said.explanation["evidence"]["cues"]
    for target, intercept in zip(TARGETS, reader.additive.intercepts, strict=True):
        total = intercept + sum(claim["contribution"] for claim in claims if claim["target"] == target)
        assert np.clip(total, 0, 1) == pytest.approx(said.prediction[target], abs=1e-9)


def test_calls_are_pure(reader: Solution, clip: FileClip, said: Said) -> None:
    reader.predict(Blank())
    assert reader.predict(clip) == said.prediction
    assert reader.explain(clip, said.prediction)["text"] == said.explanation["text"]


def test_different_clips_get_different_texts_and_maps(reader: Solution) -> None:
    clips = [FileClip(path) for path in sorted((SAMPLE / "clips").iterdir())[:3]]
    explanations = [reader.explain(clip, reader.predict(clip)) for clip in clips]
    assert len({explanation["text"] for explanation in explanations}) == 3
    maps = [explanation["evidence"]["space"] for explanation in explanations]
    assert not any(np.array_equal(maps[0], other) for other in maps[1:])


def test_the_map_lies_on_the_mouth_where_the_mouth_alone_counts(reading: Reading, reader: Solution) -> None:
    face = there(reading.picture.face)
    smiles = np.array([cue == "smile" for _, cue in FEATURES])
    space = there(space_map(reading, replace(reader.additive, weights=reader.additive.weights * smiles)))
    row, column = np.unravel_index(int(space.argmax()), space.shape)
    assert abs((column + 0.5) * 10 - np.median(face.x)) < face.unit
    assert 0 < (row + 0.5) * 10 - np.median(face.y) < 1.5 * face.unit


def test_a_gesture_is_marked_around_what_moves_but_not_on_the_face(reading: Reading) -> None:
    def marked(stir_map: NDArray[np.float64]) -> NDArray[np.float64]:
        return spread(replace(reading, picture=replace(reading.picture, stir_map=stir_map)), {"motion": 0.5})

    still = np.zeros((36, 64))
    still[34, 60] = 1.0
    alone = marked(still)
    assert (alone[33:, 59:62] == 0.5).all()
    assert alone.sum() == 9 * 0.5
    face = there(reading.picture.face)
    row, column = (int(np.median(place) / 10) for place in (face.y, face.x))
    everywhere = marked(np.ones((36, 64)))
    assert everywhere[row, column] == everywhere[row + round(0.8 * face.unit / 10), column] == 0
    assert everywhere[35].min() == 0.5


def test_a_second_weighs_what_the_prediction_owes_to_what_happens_in_it(reader: Solution, reading: Reading) -> None:
    weights = there(time_weights(reading, reader.additive))
    contributions = reader.additive.contributions(reading.values)
    expected = np.zeros(5)
    for cue in EVENTS_AND_WORDS:
        moved = np.array([abs(row[cue]) for row in contributions.values()])
        expected += (0.5 * moved[-1] + 0.1 * moved[:-1].sum()) * happens(reading, cue, 5)
    assert weights == pytest.approx(expected)
    assert all(sorted(happens(reading, cue, 5)) == [0, 0, 0, 0, 1] for cue in EVENTS)


def test_bright_and_gloomy_words_count_in_their_seconds(reading: Reading) -> None:
    still = replace(reading.picture, face=None, sweep=np.zeros(0))
    words = "Work was dreadful and so home is splendid"
    said = replace(reading, transcript=words, level=np.ones(250), picture=still)
    assert happens(said, "words", 5) == pytest.approx([0, 2, 0, 0, 2])
    assert not happens(replace(said, level=np.zeros(0)), "words", 5).any()
    busy = replace(said, picture=reading.picture)
    beside = np.sum([happens(busy, cue, 5) for cue in EVENTS], axis=0) > 0
    assert not happens(busy, "words", 5)[beside].any()  # words beside an event are not exchanged


def test_an_event_lies_where_its_track_strays(reading: Reading) -> None:
    face = there(reading.picture.face)
    curve = np.where((face.times >= 2) & (face.times < 3), 0.2, 0.05)
    smiling = replace(reading, picture=replace(reading.picture, face=replace(face, curve=curve)))
    assert happens(smiling, "smile", 5) == pytest.approx([0, 0, 1, 0, 0])
    still = replace(reading, picture=replace(reading.picture, face=None, sweep=np.zeros(0)))
    assert not happens(still, "smile", 5).any()
    assert not happens(still, "motion", 5).any()


def test_a_clip_without_face_sound_and_words_is_average(reader: Solution) -> None:
    blank = Blank()
    prediction = reader.predict(blank)
    assert all(0 <= value <= 1 for value in prediction.values())
    explanation = reader.explain(blank, prediction)
    assert_valid(explanation, blank.duration_s)
    moved = {claim["cue"] for claim in explanation["evidence"]["cues"] if claim["contribution"] != 0}
    assert moved <= {"motion", "lighting"}


def test_the_constant_explains_validly(constant: Solution, clip: FileClip) -> None:
    prediction = constant.predict(clip)
    assert list(prediction) == TARGETS
    assert_valid(constant.explain(clip, prediction), clip.duration_s)


def test_the_constant_is_the_baseline_of_both_phases(constant: Solution) -> None:
    for phase in ("practice", "final"):
        path = Path(ROOT / "reference_data" / phase / "task.yaml")
        reference = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert {target["name"]: target["constant"] for target in reference["targets"]} == constant.predict(None)


def test_every_measured_cue_is_in_the_vocabulary() -> None:
    assert set(CUES) <= set(TASK["explanation"]["evidence"]["cues"])
    assert len({name for name, _ in FEATURES}) == len(FEATURES)


def test_the_wording_follows_sign_and_level() -> None:
    zero = dict.fromkeys(CUES, 0.0)
    text = describe(
        {"interview": 0.68},
        {"interview": zero | {"smile": 0.1, "lighting": -0.05, "gaze": 0.001}},
        zero | {"smile": 1.2, "lighting": -0.8},
        [],
    )
    assert text == "The interview score is high (0.68). A smile raised it; dim lighting lowered it."
    plain = describe({"interview": 0.5}, {"interview": zero}, zero, ["boring"])
    assert plain == (
        "The interview score is medium (0.50). Nothing stands out in this clip: no cue moved it by much."
    )  # fmt: skip
