import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from PIL import Image

from model_process.packing import ARRAY, COLOUR_MODES, OTHER, Packer, unpack

plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=15,
)
arrays = npst.arrays(
    st.sampled_from([np.uint8, np.int32, np.float32, np.float64, np.bool_]),
    npst.array_shapes(max_dims=3, max_side=6),
)


def round_trip(value: Any) -> Any:  # noqa: ANN401
    packer = Packer()
    return unpack(json.loads(json.dumps(packer.pack(value))), packer.blob())


@given(plain)
def test_plain_values_survive(value: Any) -> None:  # noqa: ANN401
    assert round_trip(value) == value


@given(st.lists(arrays, max_size=4))
def test_arrays_survive(values: list[np.ndarray]) -> None:
    for before, after in zip(values, round_trip(values), strict=True):
        assert before.dtype == after.dtype
        np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize(
    "value", [object(), b"bytes", {1, 2}, 1j, 2**70, np.array(["a"]), np.array([object()]), lambda: None, np.ma.masked]
)
def test_other_things_are_named_not_sent(value: object) -> None:
    assert set(round_trip(value)) == {OTHER}


def test_endless_structures_end() -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert json.dumps(round_trip(loop)).count(OTHER) == 1
    wide = round_trip([[0] * 1000 for _ in range(1000)])
    assert wide[-1] == {OTHER: "a structure that is too deep or too large"}


def test_nan_is_kept_so_that_it_can_be_reported() -> None:
    assert math.isnan(round_trip({"x": math.nan})["x"])


class Tensor:
    """Quacks like a tensor on another device."""

    def detach(self) -> "Tensor":
        return self

    def cpu(self) -> np.ndarray:
        return np.arange(3)


def test_tensors_are_taken() -> None:
    assert round_trip(Tensor()).tolist() == [0, 1, 2]


@pytest.mark.parametrize("mode", [*COLOUR_MODES, "RGB", "RGBA"])
def test_pictures_of_pillow_keep_their_colours(mode: str) -> None:
    pixels = round_trip(Image.new("RGB", (4, 3), (204, 51, 51)).convert(mode))
    assert pixels[..., :3] == pytest.approx(np.full((3, 4, 3), (204, 51, 51)), abs=3)


@pytest.mark.parametrize(
    "wrong", [{"shape": [True]}, {"shape": [2.0]}, {"offset": False}, {"offset": "0"}, {"dtype": 1}], ids=repr
)
def test_descriptions_have_exact_types(wrong: dict[str, Any]) -> None:
    description = {"dtype": "|u1", "shape": [2], "offset": 0}
    assert unpack({ARRAY: description}, bytes(9)).tolist() == [0, 0]
    assert unpack({ARRAY: description | wrong}, bytes(9)) == {OTHER: "a malformed array"}


@given(
    st.fixed_dictionaries(
        {
            "dtype": st.sampled_from(["|u1", "<f4", "|O", "<U3", "rubbish", 3, None]),
            "shape": st.lists(st.integers(-2, 10**12), max_size=10) | st.just("x"),
            "offset": st.integers(-5, 200) | st.none(),
        }
    )
)
def test_forged_descriptions_are_refused(description: dict[str, Any]) -> None:
    value = unpack({ARRAY: description}, bytes(100))
    assert isinstance(value, np.ndarray) or value == {OTHER: "a malformed array"}
    if isinstance(value, np.ndarray):
        assert value.nbytes <= 100
