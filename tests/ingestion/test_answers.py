import math
import time
from typing import Any

import cv2
import numpy as np
import pytest

from ingest.answers import check_explanation, check_prediction
from ingest.media.video import LARGEST, encode_jpeg
from ingest.settings import EvidenceFormat, ExplanationFormat, Grid, ImageSize, Target, TextLimits
from model_process.packing import Packer, unpack

FORM = ExplanationFormat(TextLimits(20, 60), ImageSize(355, 200), EvidenceFormat(Grid(9, 16), ("smile",)))
TARGETS = (Target("warmth", 0, 1), Target("interview", 0, 1))
GOOD = {"warmth": 0.2, "interview": 0.8}
TEXT = "A text that is long enough."


def through_the_channel(value: Any) -> Any:  # noqa: ANN401
    packer = Packer()
    packed = packer.pack(value)
    return unpack(packed, packer.blob())


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.5, 0.5),
        (1, 1.0),
        (np.float32(0.25), 0.25),
        (np.float64(0.25), 0.25),
        (np.array(0.25), 0.25),
        (np.array([0.25]), 0.25),
    ],
)
def test_numbers_that_are_taken(value: object, expected: float) -> None:
    prediction, problems = check_prediction(through_the_channel({**GOOD, "warmth": value}), TARGETS)
    assert prediction == {"warmth": expected, "interview": 0.8}
    assert not problems


@pytest.mark.parametrize(
    ("value", "codes"),
    [
        (None, ["prediction_type"]),
        (0.5, ["prediction_type"]),
        ([0.1, 0.2], ["prediction_type"]),
        (np.zeros(2), ["prediction_type"]),
        ({}, ["target_missing"]),
        ({"warmth": 0.5}, ["target_missing"]),
        ({**GOOD, "warmth": None}, ["target_type"]),
        ({**GOOD, "warmth": "0.5"}, ["target_type"]),
        ({**GOOD, "warmth": True}, ["target_type"]),
        ({**GOOD, "warmth": 1j}, ["target_type"]),
        ({**GOOD, "warmth": 10**400}, ["target_type"]),
        ({**GOOD, "warmth": np.array([0.1, 0.2])}, ["target_type"]),
        ({**GOOD, "warmth": math.nan}, ["target_not_finite"]),
        ({**GOOD, "warmth": math.inf}, ["target_not_finite"]),
        ({**GOOD, "warmth": 1.2, "interview": -3}, ["target_out_of_range"]),
        ({"warmth": 1.2}, ["target_out_of_range", "target_missing"]),
    ],
)
def test_predictions_that_fail_their_clip(value: object, codes: list[str]) -> None:
    prediction, problems = check_prediction(through_the_channel(value), TARGETS)
    assert prediction is None
    assert [problem.code for problem in problems] == codes


def test_a_mistake_that_every_target_has_is_told_once() -> None:
    [problem] = check_prediction({"warmth": "0.4", "interview": "0.7"}, TARGETS)[1]
    assert (problem.where, problem.found) == ("every target", "the text '0.4' for warmth, the text '0.7' for interview")
    [problem] = check_prediction({}, TARGETS)[1]
    assert problem.fix == "add 'warmth', 'interview'"
    [problem] = check_prediction({"warmth": 2.0}, TARGETS[:1])[1]
    assert problem.where == 'target "warmth"'


def test_a_misspelt_target_is_recognised() -> None:
    _, problems = check_prediction({"warmth": 0.1, "Interview": 0.2}, TARGETS)
    assert 'similar key "Interview"' in problems[0].found


def test_an_unknown_target_is_only_a_warning() -> None:
    prediction, problems = check_prediction({**GOOD, "luck": 1}, TARGETS)
    assert prediction == GOOD
    assert [(problem.code, problem.severity) for problem in problems] == [("target_unknown", "warning")]


def explain(**parts: object) -> tuple[Any, list[str]]:
    explanation, problems = check_explanation(through_the_channel({"text": TEXT, **parts}), FORM, TARGETS, 5.0)
    return explanation, [problem.code for problem in problems]


@pytest.mark.parametrize(
    ("text", "expected", "codes"),
    [
        (TEXT, TEXT, []),
        ("", None, ["text_short"]),
        ("   \n ", None, ["text_short"]),
        ("too short", None, ["text_short"]),
        (None, None, ["text_missing"]),
        (b"bytes instead of a text", None, ["text_missing"]),
        ("x" * 100, "x" * 60, ["text_cut"]),
        ("a\x00b\x1b and a lone \ud800 surrogate", "a\ufffdb\ufffd and a lone \ufffd surrogate", ["text_characters"]),
        ("e\u0301 is one character, composed", "\u00e9 is one character, composed", []),
        ("<script>alert(1)</script> stays text", "<script>alert(1)</script> stays text", []),
    ],
)
def test_texts(text: object, expected: str | None, codes: list[str]) -> None:
    explanation, found = explain(text=text)
    assert explanation.text == expected
    assert found == codes


PIXELS = np.arange(200 * 355 * 3, dtype=np.uint8).reshape(200, 355, 3)


@pytest.mark.parametrize(
    ("image", "codes"),
    [
        (None, []),
        (PIXELS, []),
        (PIXELS[::-1, ::-1], []),
        (PIXELS[:, :, 0], ["image_grey"]),
        (PIXELS[:, :, :1], ["image_grey"]),
        (np.dstack([PIXELS, PIXELS[:, :, :1]]), ["image_alpha"]),
        (PIXELS / np.float32(255), ["image_float"]),
        (PIXELS.transpose(2, 0, 1), ["image_shape"]),
        (PIXELS[:100], ["image_shape"]),
        (PIXELS.transpose(1, 0, 2), ["image_shape"]),
        (PIXELS.astype(np.int64), ["image_type"]),
        (PIXELS.astype(np.float32), ["image_range"]),
        (PIXELS * np.nan, ["image_range"]),
        (PIXELS > 3, ["image_type"]),
        ("face.png", ["image_type"]),
        (np.zeros((20_000, 20_000), np.uint8), ["image_type"]),
        (PIXELS.astype(object), ["image_type"]),
    ],
)
def test_images(image: object, codes: list[str]) -> None:
    explanation, found = explain(image=image)
    assert found == codes
    usable = image is not None and (not codes or codes[0] in {"image_grey", "image_alpha", "image_float"})
    assert (explanation.image is not None) == usable
    assert explanation.text == TEXT


def test_pixels_arrive_unchanged() -> None:
    explanation, _ = explain(image=PIXELS)
    assert (explanation.image == PIXELS).all()
    explanation, _ = explain(image=PIXELS / np.float64(255))
    assert (explanation.image == PIXELS).all()


@pytest.mark.parametrize("value", [None, "text", [TEXT], 3, np.zeros(3)])
def test_an_explanation_of_the_wrong_type(value: object) -> None:
    explanation, problems = check_explanation(through_the_channel(value), FORM, TARGETS, 5.0)
    assert (explanation.text, explanation.image, explanation.evidence) == (None, None, None)
    assert [problem.code for problem in problems] == ["explanation_type"]


@pytest.mark.parametrize(("value", "moved"), [(1 + 5e-7, 1.0), (-5e-7, 0.0)])
def test_a_rounding_error_is_moved_onto_the_limit_and_said(value: float, moved: float) -> None:
    prediction, (problem,) = check_prediction(through_the_channel({**GOOD, "warmth": value}), TARGETS)
    assert prediction == {"warmth": moved, "interview": 0.8}
    assert (problem.code, problem.severity) == ("target_rounded", "warning")


@pytest.mark.parametrize("key", ["Interview", "INTERVIEW", " interview ", "intervew", "interview_score"])
def test_a_key_that_is_nearly_right_is_named(key: str) -> None:
    prediction, problems = check_prediction({"warmth": 0.5, key: 0.5}, TARGETS)
    assert prediction is None
    assert repr(key)[1:-1] in problems[0].found


def test_checking_is_quick_whatever_comes() -> None:
    started = time.monotonic()
    check_prediction({f"interview {number}": 0.5 for number in range(100_000)}, TARGETS)
    hard = "a" + "\u0315\u0300" * 50_000
    explanation, problems = check_explanation({"text": hard}, FORM, TARGETS, 2.0)
    assert time.monotonic() - started < 20  # a fraction of a second; in quadratic time it would be minutes
    assert explanation.text is not None
    assert len(explanation.text) == FORM.text.maximum_chars
    assert [problem.code for problem in problems] == ["text_cut"]
    assert "100001 characters" in problems[0].found


def test_one_colour_everywhere_is_a_warning() -> None:
    explanation, problems = check_explanation(
        {"text": "x" * 30, "image": np.zeros((200, 355, 3), np.uint8)}, FORM, TARGETS, 2.0
    )
    assert explanation.image is not None
    assert [(problem.code, problem.severity) for problem in problems] == [("image_flat", "warning")]


def test_a_tensor_that_is_no_array_gets_the_right_advice() -> None:
    _, problems = check_explanation({"text": "x" * 30, "image": {"$other": "Tensor"}}, FORM, TARGETS, 2.0)
    assert [problem.code for problem in problems] == ["image_type"]
    assert ".cpu().numpy()" in problems[0].fix


def test_a_picture_of_noise_is_a_small_file_and_a_plain_one_is_as_it_was() -> None:
    noise = np.random.default_rng(1).integers(0, 256, (200, 355, 3), np.uint8)
    assert 10_000 < len(encode_jpeg(noise)) <= LARGEST
    ramp = np.linspace(0, 255, noise.size).reshape(noise.shape).astype(np.uint8)
    seen = np.asarray(cv2.imdecode(np.frombuffer(encode_jpeg(ramp), np.uint8), cv2.IMREAD_COLOR))[..., ::-1]
    assert np.abs(seen.astype(int) - ramp).max() < 8
