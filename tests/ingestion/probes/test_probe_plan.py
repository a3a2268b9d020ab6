"""Which altered copies are asked for: properties of the plan, and the numbers behind it."""

from collections import Counter
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.clips.copies import Copy
from ingest.media.altered.draws import Draws
from ingest.media.altered.region import Box
from ingest.model.evidence import CueClaim, Evidence
from ingest.probes.edits import OPERATORS, choose_edits
from ingest.probes.plan import (
    EXCHANGE,
    UNITS,
    Call,
    Claims,
    CueEdit,
    askings,
    claims_of,
    plan_calls,
    units_in_space,
    units_in_time,
)
from ingest.settings import OPERATORS as FILLS
from ingest.settings import JitterRange, ProbeSettings
from tests import there

GRID = (9, 16)
CELLS = 144
SETTINGS = ProbeSettings(FILLS, 3, JitterRange(0.01, 2, 1))
EDITS = [CueEdit(cue, "copy") for cue in ("smile", "gaze", "lighting")]
CUES = ("smile", *OPERATORS)


def claims(count: int, seed: int, bins: int = 5, share: float = 1.0) -> dict[str, Claims]:
    """Return claims of `count` clips with random maps of few levels, so that there are ties."""
    rng = np.random.default_rng(seed)
    made = {}
    for number in range(count):
        space, time = rng.integers(0, 4, CELLS) / 3 + 0.0, rng.integers(0, 3, bins) / 2 + 0.0
        given = rng.random(2) < share
        made[f"c{number:04d}"] = Claims(space if given[0] else None, time if given[1] else None, ())
    return made


def plan(made: dict[str, Claims], seed: int = 7, key: bytes | None = None) -> dict[str, list[Call]]:
    return plan_calls(made, dict.fromkeys(made, EDITS), {}, SETTINGS, GRID, Draws(key, seed))


def hidden(calls: list[Call], kind: str) -> list[tuple[int, ...]]:
    return [call.places or () for call in calls if call.kind == kind]


PHASES = st.builds(claims, st.integers(1, 12), st.integers(0, 2**32), st.integers(1, 16), st.sampled_from([0.5, 1.0]))


@settings(max_examples=60, deadline=None)
@given(PHASES, st.integers(0, 2**63 - 1))
def test_every_plan(made: dict[str, Claims], seed: int) -> None:
    planned = plan(made, seed)
    assert planned.keys() == made.keys()
    for clip_id, calls in planned.items():
        kinds = Counter(call.kind for call in calls)
        assert len(calls) <= 1 + 3 + 2 * UNITS
        assert len(set(calls)) == len(calls)
        assert kinds["original"] == 1
        assert kinds["twin"] <= 1
        assert kinds["cue"] + kinds["twin"] == 3
        assert len({call.operator for call in calls if call.kind == "space"}) <= 1
        for axis, weights in (("space", made[clip_id].space), ("time", made[clip_id].time)):
            places = hidden(calls, axis)
            if weights is None or len(weights) == 1:
                assert not places
                continue
            # Each place is hidden once.
            assert sorted(place for each in places for place in each) == list(range(len(weights)))
            assert 2 <= len(places) <= UNITS
            assert all(each == tuple(sorted(each)) for each in places)


def test_what_is_hidden_does_not_hang_on_what_is_claimed() -> None:
    made = claims(12, 1)
    other = dict(zip(made, claims(12, 2).values(), strict=True))
    assert plan(made) == plan(other)


@settings(max_examples=30, deadline=None)
@given(PHASES, st.randoms())
def test_the_order_in_which_clips_are_listed_changes_nothing(
    made: dict[str, Claims], random: "np.random.Generator"
) -> None:
    names = list(made)
    random.shuffle(names)
    other = plan({name: made[name] for name in names})
    assert list(other.items()) == list(plan(made).items())


def test_a_key_and_a_seed_decide() -> None:
    made = claims(8, 1)
    plans = [plan(made), plan(made, key=b"k"), plan(made, 8)]
    assert plans[0] == plan(made)
    assert plans[0] != plans[1] != plans[2] != plans[0]


def test_blocks_of_cells_and_spans_of_seconds_by_hand() -> None:
    lots = np.random.default_rng(0)
    assert units_in_space(None, (2, 4), lots) == [((0, 1), None), ((2,), None), ((3,), None),
                                                  ((4, 5), None), ((6,), None), ((7,), None)]  # fmt: skip
    assert [places for places, _ in units_in_time(None, 5)] == [(0,), (1,), (2,), (3,), (4,)]
    assert [places for places, _ in units_in_time(None, 8)] == [(0, 1), (2, 3), (4,), (5,), (6,), (7,)]


def test_a_quarter_has_a_twin() -> None:
    kinds = [{call.kind for call in calls} for calls in plan(claims(24, 5)).values()]
    assert sum("twin" in found for found in kinds) == 6


def test_calls_that_show_the_same_are_asked_once() -> None:
    original, twin = Call("c", "original"), Call("c", "twin")
    copy, other = Call("c", "cue", "copy", cue="smile"), Call("c", "cue", "copy", cue="gaze")
    mouth = Call("c", "space", EXCHANGE, (3, 4), ("mouth",))
    when, idle = Call("c", "time", EXCHANGE, (1,), ("mouth",)), Call("c", "time", EXCHANGE, (2,), ())
    cells, second = Call("c", "space", "blur", (1,)), Call("c", "time", "freeze", (1,))
    calls = [copy, original, twin, other, mouth, cells, when, second, idle]
    assert askings(calls) == [[copy], [original, twin, idle], [other], [mouth, when], [cells], [second]]


def test_a_twin_follows_its_original() -> None:
    for calls in plan(claims(24, 6)).values():
        kinds = [call.kind for call in calls]
        if "twin" in kinds:
            assert kinds.index("twin") == kinds.index("original") + 1


def test_calls_come_in_an_order_of_their_own() -> None:
    planned = plan(claims(200, 9)).values()
    # 1 of 4 whole calls is the original, the last of 3 with a twin: first in about 38 clips.
    assert 22 <= sum(calls[0].kind == "original" for calls in planned) <= 56
    assert len({(call.kind, call.places) for calls in planned for call in calls[-1:]}) == 2 * UNITS - 1


def test_no_copy_comes_after_what_tells_the_original_from_it() -> None:
    for calls in plan(claims(200, 10)).values():
        kinds = [call.kind for call in calls]
        last_copy = max(place for place, kind in enumerate(kinds) if kind == "cue")
        telling = [place for place, kind in enumerate(kinds) if kind in {"space", "time", "twin"}]
        assert min(telling) > last_copy


def test_maps_over_time_are_averaged() -> None:
    evidence = Evidence(np.array([[[1.0, 0.0]], [[3.0, 2.0]]]), None, None)
    space = there(claims_of(evidence.record()).space)
    assert space.tolist() == [2.0, 1.0]
    assert claims_of(None).cues == ()


def edits(
    told: dict[str, float], *, copies: tuple[Copy, ...] = (), face: Box | None = None, seed: int = 0, words: str = "a b"
) -> list[CueEdit]:
    made = [CueClaim(cue, "interview", contribution) for cue, contribution in told.items()]
    return choose_edits("c0", made, copies, CUES, words, face, Draws(None, seed))


def test_the_largest_claim_comes_first_whatever_its_sign() -> None:
    for seed in range(20):
        assert edits({"words": 0.1, "lighting": -0.6, "smile": 0.9}, seed=seed)[0] == CueEdit("lighting", "relight")


def test_the_other_edits_are_drawn() -> None:
    assert len({tuple(edits({"words": 0.5}, seed=seed)) for seed in range(20)}) > 10


def test_edits_need_what_they_hide() -> None:
    assert {edit.operator for edit in edits({}, words=" ")} == {"other_voice", "slow", "relight", "reframe"}
    with_face = {edit.operator for edit in edits({}, face=Box(0.2, 0.2, 0.5, 0.5))}
    assert with_face == set(OPERATORS.values())


def test_copies_are_the_edits_whatever_is_claimed() -> None:
    copies = tuple(Copy(cue, Path("x"), "", "") for cue in ("smile", "gaze", "framing"))
    first = edits({"smile": 1.0}, copies=copies)
    assert first == edits({"gaze": -1.0}, copies=copies)
    assert {edit.cue for edit in first} == {"smile", "gaze", "framing"}
    assert {edit.operator for edit in first} == {"copy"}


def test_a_grid_of_one_cell_has_no_masks_at_all() -> None:
    made = {f"c{number:04d}": Claims(np.ones(1), None, ()) for number in range(8)}
    planned = plan_calls(made, dict.fromkeys(made, EDITS), {}, SETTINGS, (1, 1), Draws(None, 7))
    assert {call.kind for calls in planned.values() for call in calls} == {"original", "cue", "twin"}


def test_the_finest_grid_is_planned_in_little_memory() -> None:
    rng = np.random.default_rng(1)
    made = {f"c{number}": Claims(rng.random(256 * 256), None, ()) for number in range(3)}
    planned = plan_calls(made, dict.fromkeys(made, EDITS), {}, SETTINGS, (256, 256), Draws(None, 7))
    assert all(len(hidden(calls, "space")) == UNITS for calls in planned.values())
