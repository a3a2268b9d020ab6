"""Whatever a model answers and whatever stands in the settings: only the declared errors, and never slowly."""

import json
import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ingest.answers import check_explanation, check_prediction
from ingest.codes import CODES
from ingest.errors import IngestionError, Problem
from ingest.settings import EvidenceFormat, ExplanationFormat, Grid, ImageSize, Target, TextLimits, read_task
from model_process.packing import ARRAY, OTHER, Packer, unpack
from tests.ingestion.conftest import SETTINGS

FORM = ExplanationFormat(TextLimits(20, 60), ImageSize(355, 200), EvidenceFormat(Grid(9, 16), ("smile",)))
TARGETS = (Target("warmth", 0, 1), Target("interview", 0, 1))
QUICK = settings(max_examples=2 * settings().max_examples)

any_text = st.text(st.characters(), max_size=30)  # lone surrogates included
numbers = st.one_of(
    st.floats(), st.integers(), st.sampled_from([10**400, -(10**400), 1e308, -0.0, 5e-324, 2**63, 1 + 1e-7])
)
dtypes = st.one_of(
    st.sampled_from(
        ["<f8", "<f4", "|u1", "<i8", "|b1", "<f2", "|O", "<U9", "<M8[s]", "V0", "(2,3)f4", "(1,2f4", "f8,i4"]
    ),
    any_text,
)
arrays = st.fixed_dictionaries(
    {},
    optional={
        "dtype": dtypes,
        "shape": st.one_of(st.lists(st.one_of(st.integers(-2, 400), numbers), max_size=10), numbers, any_text),
        "offset": st.one_of(st.integers(-1, 64), numbers, any_text),
        "more": st.none(),
    },
)
leaves = st.one_of(
    st.none(), st.booleans(), numbers, any_text, arrays.map(lambda a: {ARRAY: a}), any_text.map(lambda t: {OTHER: t})
)
KEYS = [
    "text", "image", "evidence", "space", "time", "cues",
    "cue", "target", "contribution", "warmth", "interview", "smile",
]  # fmt: skip
keys = st.one_of(st.sampled_from(KEYS), any_text)
anything = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4), max_leaves=20
)
claim = st.fixed_dictionaries({}, optional={"cue": leaves, "target": leaves, "contribution": leaves})
explanations = st.one_of(
    anything,
    st.fixed_dictionaries(
        {},
        optional={
            "text": leaves,
            "image": leaves,
            "evidence": st.fixed_dictionaries(
                {}, optional={"space": anything, "time": anything, "cues": st.lists(claim, max_size=4)}
            ),
        },
    ),
)


def all_known(problems: list[Problem]) -> bool:
    return all(problem.code in CODES and problem.stage in CODES[problem.code].stages for problem in problems)


@QUICK
@given(st.one_of(anything, st.dictionaries(keys, leaves, max_size=4)), st.binary(max_size=64))
@example({"warmth": 10**400, "interview": {ARRAY: {"dtype": "<f8", "shape": [1], "offset": 0}}}, b"\0" * 8)
def test_any_answer_to_predict_is_a_prediction_or_a_problem(value: Any, blob: bytes) -> None:  # noqa: ANN401
    prediction, problems = check_prediction(unpack(value, blob), TARGETS)
    assert all_known(problems)
    if prediction is None:
        assert any(problem.severity == "error" for problem in problems)
    else:
        assert list(prediction) == ["warmth", "interview"]
        assert all(type(number) is float and 0 <= number <= 1 for number in prediction.values())
    for problem in problems:
        json.dumps(problem.record()).encode()
        problem.line()


@QUICK
@given(explanations, st.binary(max_size=64), st.floats(0.01, 1e4))
def test_any_answer_to_explain_leaves_only_what_can_be_written(value: Any, blob: bytes, duration_s: float) -> None:  # noqa: ANN401
    explanation, problems = check_explanation(unpack(value, blob), FORM, TARGETS, duration_s)
    assert all_known(problems)
    if explanation.text is not None:
        explanation.text.encode()
        assert FORM.text.minimum_chars <= len(explanation.text) <= FORM.text.maximum_chars
    if explanation.image is not None:
        assert explanation.image.shape == (200, 355, 3)
        assert explanation.image.dtype == np.uint8
    if explanation.evidence is not None:
        json.dumps(explanation.evidence.record(), allow_nan=False)


@QUICK
@given(arrays, st.binary(max_size=64))
@example({"dtype": "<f8", "shape": [2**40, 2**40], "offset": 0}, b"")
@example({"dtype": "<f8", "shape": [0] * 8, "offset": 10**30}, b"")
@example({"dtype": "(1,2f4", "shape": [], "offset": 0}, b"")
@example({"dtype": "<f8", "shape": [math.inf], "offset": 0}, b"")
def test_any_description_of_an_array_is_an_array_or_malformed(description: dict[str, Any], blob: bytes) -> None:
    value = unpack({ARRAY: description}, blob)
    if isinstance(value, np.ndarray):
        assert value.dtype.kind in "biuf"
        assert value.nbytes <= len(blob)
    else:
        assert value == {OTHER: "a malformed array"}


@QUICK
@given(anything)
def test_whatever_is_packed_can_be_sent_and_unpacked(value: Any) -> None:  # noqa: ANN401
    packer = Packer()
    packed = packer.pack(value)
    unpack(json.loads(json.dumps(packed)), packer.blob())


def paths(content: Any, prefix: tuple[str, ...] = ()) -> list[tuple[str, ...]]:  # noqa: ANN401
    if not isinstance(content, dict):
        return [prefix]
    return [prefix, *(path for key, item in content.items() for path in paths(item, (*prefix, key)))]


def read(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "task.yaml"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        try:
            read_task(path)
        except IngestionError as error:
            assert error.problems
            assert all_known(error.problems)
            for problem in error.problems:
                json.dumps(problem.record()).encode()


plain = st.recursive(
    st.one_of(st.none(), st.booleans(), st.floats(), st.integers(), st.text(max_size=20), st.dates()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@QUICK
@given(st.sampled_from(paths(SETTINGS)[1:]), plain)
def test_any_value_in_the_settings_is_taken_or_named(path: tuple[str, ...], value: object) -> None:
    content = json.loads(json.dumps(SETTINGS))
    place = content
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    read(yaml.safe_dump(content))


@QUICK
@given(st.text(max_size=200))
def test_any_text_in_place_of_the_settings(text: str) -> None:
    read(text)


HARD = {
    "huge_number": "seed: 0x" + "f" * 5000,
    "huge_limit": "targets: [{name: a, minimum: 0, maximum: 0x" + "f" * 400 + "}]",
    "laughs": "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{'bcdefghi'[n]}: &{'bcdefghi'[n]} [{','.join(['*' + 'abcdefgh'[n]] * 9)}]\n" for n in range(8)
    ) + "seed: *i",
    "cycle": "seed: &a [*a]",
    "empty_int": "seed: !!int ''",
    "bad_bool": "seed: !!bool x",
    "bad_time": "seed: !!timestamp x",
    "deep": "[\n" * 5000,
    "unhashable": "? {a: b}\n: c",
    "surrogate": "task: \"\\ud800\"",
    "merge": "<<: 3",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(HARD))
def test_hard_settings(name: str) -> None:
    read(HARD[name])
    read(yaml.safe_dump(SETTINGS) + HARD[name])
