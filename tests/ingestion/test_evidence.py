import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from ingest.errors import Problem
from ingest.evidence import Evidence, area_average, check_evidence
from ingest.settings import EvidenceFormat, ExplanationFormat, Grid, ImageSize, Target, TextLimits
from model_process.packing import Packer, unpack

FORM = ExplanationFormat(TextLimits(20, 200), ImageSize(355, 200), EvidenceFormat(Grid(9, 16), ("smile", "gaze")))
TARGETS = (Target("warmth", 0, 1), Target("interview", 0, 1))


def check(value: object, duration_s: float = 5.0) -> tuple[Evidence | None, list[Problem]]:
    problems: list[Problem] = []
    return check_evidence(value, FORM, TARGETS, duration_s, problems), problems


maps = npst.arrays(
    np.float64, st.tuples(st.integers(1, 3), st.integers(1, 40), st.integers(1, 40)), elements=st.floats(0, 10)
)


@given(maps=maps, rows=st.integers(1, 12), columns=st.integers(1, 18))
def test_area_average_keeps_the_mean_and_the_bounds(maps: np.ndarray, rows: int, columns: int) -> None:
    grid = area_average(maps, rows, columns)
    assert grid.shape == (len(maps), rows, columns)
    assert grid.mean(axis=(1, 2)) == pytest.approx(maps.mean(axis=(1, 2)), abs=1e-9)
    assert grid.min() >= maps.min() - 1e-9
    assert grid.max() <= maps.max() + 1e-9


def test_area_average_of_whole_blocks_is_their_mean() -> None:
    rng = np.random.default_rng(3)
    maps = rng.random((2, 18, 48))
    blocks = maps.reshape(2, 9, 2, 16, 3).mean(axis=(2, 4))
    assert area_average(maps, 9, 16) == pytest.approx(blocks)


def test_area_average_of_two_pixels_on_three_cells() -> None:
    # Cells of 2/3 pixel: the first lies in pixel 0, the middle one half in each, the last in pixel 1.
    assert area_average(np.array([[[0.0, 3.0]]]), 1, 3) == pytest.approx(np.array([[[0.0, 1.5, 3.0]]]))


def test_intervals_become_weights_a_second() -> None:
    # 0.5 to 2.0 with weight 2: half of second 0, all of second 1; 1.0 to 1.25 with weight 4 adds 1 to second 1.
    evidence, problems = check({"time": [[0.5, 2.0, 2.0], [1.0, 1.25, 4.0]]})
    assert not problems
    assert evidence is not None
    assert evidence.time is not None
    assert evidence.time.tolist() == [1.0, 3.0, 0.0, 0.0, 0.0]


@given(
    st.lists(
        st.tuples(st.floats(0, 4.9), st.floats(0.05, 5), st.floats(0.01, 3)).map(
            lambda t: [t[0], min(5.0, t[0] + t[1]), t[2]]
        ),
        min_size=1,
        max_size=5,
    )
)
def test_intervals_keep_their_total_weight(intervals: list[list[float]]) -> None:
    evidence, _ = check({"time": intervals})
    if evidence is not None and evidence.time is not None:  # None when it happens to be uniform
        total = sum((end - start) * weight for start, end, weight in intervals)
        assert evidence.time.sum() == pytest.approx(total)


def test_all_parts_are_recorded() -> None:
    evidence, problems = check(
        {
            "space": np.eye(18, 32, dtype=np.float32),
            "time": [1, 0, 0, 0, 0],
            "cues": [{"cue": "smile", "target": "interview", "contribution": -0.5}],
        }
    )
    assert not problems
    assert evidence is not None
    record = evidence.record()
    assert (record["space"]["rows"], record["space"]["columns"]) == (9, 16)
    assert np.array(record["space"]["weights"]).shape == (1, 9, 16)
    assert record["time"] == {"bin_s": 1.0, "weights": [1.0, 0.0, 0.0, 0.0, 0.0]}
    assert record["cues"] == [{"cue": "smile", "target": "interview", "contribution": -0.5}]


GOOD_CLAIM = {"cue": "smile", "target": "interview", "contribution": 0.5}


@pytest.mark.parametrize(
    ("value", "where"),
    [
        ({"space": np.ones((9, 16))}, "space"),
        ({"space": np.eye(9, 16) > 0}, "space"),
        ({"time": [True, 0.5, 0.1, 0.2, 0.3]}, "time"),
        ({"time": [np.array([0, 1, 0.5]), np.array([1, 2, 1]) > 1]}, "time"),
        ({"time": [[0, 1, 0.5], [1, True, 0.5]]}, "time"),
        ({"space": -np.eye(9, 16)}, "space"),
        ({"space": np.full((9, 16), np.nan)}, "space"),
        ({"space": np.zeros(9)}, "space"),
        ({"space": np.zeros((0, 4))}, "space"),
        ({"space": [[1, 2], [3]]}, "space"),
        ({"space": "face"}, "space"),
        ({"time": [1, 2, 3]}, "time"),
        ({"time": [1, 1, 1, 1, 1]}, "time"),
        ({"time": [-1, 0, 0, 0, 0]}, "time"),
        ({"time": [[0, 6, 1]]}, "time"),
        ({"time": [[2, 1, 1]]}, "time"),
        ({"time": [[0, 1, float("inf")]]}, "time"),
        ({"time": {"start": 0}}, "time"),
        ({"cues": {"smile": 1}}, "cues"),
        ({"cues": [{**GOOD_CLAIM, "cue": "aura"}]}, "cues[0]"),
        ({"cues": [GOOD_CLAIM, {**GOOD_CLAIM, "target": "luck"}]}, "cues[1]"),
        ({"cues": [{**GOOD_CLAIM, "contribution": 1.5}]}, "cues[0]"),
        ({"cues": [{**GOOD_CLAIM, "contribution": float("nan")}]}, "cues[0]"),
        ({"cues": [{**GOOD_CLAIM, "contribution": True}]}, "cues[0]"),
        ({"cues": [GOOD_CLAIM, GOOD_CLAIM]}, "cues[1]"),
        ({"cues": ["smile"]}, "cues[0]"),
        ({"map": 1}, "evidence"),
        ("the face", "evidence"),
        (3, "evidence"),
    ],
)
def test_a_bad_part_counts_as_absent_and_is_named(value: object, where: str) -> None:
    evidence, problems = check(value)
    assert evidence is None
    assert [problem.where for problem in problems] == [where]


def test_a_long_text_in_a_list_costs_no_memory() -> None:
    tracemalloc.start()
    try:
        evidence, problems = check({"space": [["a" * 100_000, *[""] * 200]], "time": ["a" * 100_000, *[""] * 4]})
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert evidence is None
    assert [problem.where for problem in problems] == ["space", "time"]
    assert peak < 10 << 20  # NumPy would make 80 MB of it


MAP = np.add.outer(np.arange(9.0), np.arange(16.0) ** 2)
SQUARE = np.add.outer(np.arange(14.0), np.arange(14.0) ** 2)


class Subclass(np.ndarray):
    """An array with a type of its own, as units or sparse packages have."""


CHANNELS, TIME, SWAP, TOKENS = ".mean(axis=-1)", "np.moveaxis(maps, -1, 0)", ".swapaxes(-1, -2)", "rows and columns"


@pytest.mark.parametrize(
    ("given_map", "meant"),
    [
        (MAP[:, :, None], MAP[None]),
        (SQUARE[:, :, None], SQUARE[None]),
        (SQUARE[None, :, :, None], SQUARE[None]),
        (SQUARE[None, None], SQUARE[None]),
        (np.stack([SQUARE, SQUARE.T])[:, None], np.stack([SQUARE, SQUARE.T])),
        (np.stack([SQUARE, SQUARE.T])[..., None], np.stack([SQUARE, SQUARE.T])),
        (np.stack([MAP] * 9), np.stack([MAP] * 9)),
        (MAP.view(Subclass), MAP[None]),
        (np.arange(5 * 9 * 12.0).reshape(5, 9, 12), np.arange(5 * 9 * 12.0).reshape(5, 9, 12)),
        (np.ma.array(MAP), MAP[None]),
        (np.arange(24.0).reshape(2, 3, 4), np.arange(24.0).reshape(2, 3, 4)),
        (np.repeat(SQUARE[:, :, None], 3, 2), CHANNELS),
        (np.repeat(MAP[:, :, None], 4, 2), CHANNELS),
        (np.repeat(np.eye(200, 355)[:, :, None], 3, 2), CHANNELS),
        (np.repeat(np.eye(100, 300)[:, :, None], 3, 2), CHANNELS),
        (np.repeat(MAP[:, :, None], 5, 2), TIME),
        (np.repeat(SQUARE[:, :, None], 150, 2), TIME),
        (MAP.T, SWAP),
        (np.stack([MAP.T] * 5), SWAP),
        (np.arange(144.0)[None], TOKENS),
        (np.arange(5 * 196.0).reshape(5, 1, 196), TOKENS),
        (np.ma.masked_less(MAP, 3), ".filled(0)"),
        (np.stack([np.stack([MAP] * 3)] * 2), "shape (2, 3, 9, 16)"),
    ],
)
def test_maps_are_read_as_meant_or_refused_with_the_shape_and_the_fix(
    given_map: np.ndarray, meant: np.ndarray | str
) -> None:
    packer = Packer()
    packed = packer.pack({"space": given_map})
    evidence, problems = check(unpack(packed, packer.blob()))
    if isinstance(meant, str):
        (problem,) = problems
        assert evidence is None
        assert meant in f"{problem.found} {problem.fix}"
    else:
        assert not problems
        assert evidence is not None
        assert evidence.space == pytest.approx(area_average(meant, 9, 16))


def test_arrays_in_a_list_count_with_all_their_numbers() -> None:
    (problem,) = check({"space": [np.ones((1000, 1000), np.uint8)] * 5})[1]
    assert problem.found == "a list of 5 values"
    evidence, _ = check({"space": [np.eye(9, 16), np.eye(9, 16)]})
    assert evidence is not None


@pytest.mark.parametrize(("below", "valid"), [(-1e-17, True), (-1e-10, True), (-1e-8, False)])
def test_what_is_below_0_by_rounding_is_0(below: float, valid: bool) -> None:
    space, time = np.eye(9, 16), [1.0, 0.0, 0.0, 0.0, below]
    space[0, 5] = below
    evidence, problems = check({"space": space, "time": time})
    assert len(problems) == (0 if valid else 2)
    if valid:
        assert evidence is not None
        assert evidence.space is not None
        assert evidence.space.min() == 0
        assert evidence.time is not None
        assert evidence.time.min() == 0


def test_a_bad_part_leaves_the_others() -> None:
    evidence, problems = check({"space": np.ones((2, 2)), "cues": [GOOD_CLAIM]})
    assert evidence is not None
    assert evidence.space is None
    assert evidence.cues is not None
    assert len(problems) == 1


def test_keys_by_the_thousand_are_one_problem() -> None:
    evidence, (problem,) = check({**{f"key {number}": 1 for number in range(10_000)}, "cues": [GOOD_CLAIM]})
    assert evidence is not None
    assert len(problem.line()) < 500


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(max_size=5), lambda c: st.lists(c, max_size=4)))
def test_rubbish_never_raises(value: object) -> None:
    for key in ("space", "time", "cues"):
        check({key: value})
    check(value)
