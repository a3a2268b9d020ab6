"""Which altered clips are asked for: properties of the plan, and the numbers behind it."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.evidence import CueClaim, Evidence
from ingest.probes.copies import Copy
from ingest.probes.draws import Draws
from ingest.probes.edits import OPERATORS, choose_edits
from ingest.probes.plan import Call, Claims, CueEdit, claims_of, masked_places, plan_calls, ranking
from ingest.probes.region import Box
from ingest.probes.settings import OPERATORS as FILLS
from ingest.probes.settings import ProbeSettings

GRID = (9, 16)
CELLS = 144
SETTINGS = ProbeSettings((0.1, 0.2, 0.3, 0.5), FILLS, 3, 0.01, 2, 1)
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


def by_part(calls: list[Call], kind: str) -> dict[str | None, Call]:
    return {call.part: call for call in calls if call.kind == kind}


PHASES = st.builds(claims, st.integers(1, 12), st.integers(0, 2**32), st.integers(1, 16), st.sampled_from([0.5, 1.0]))


@settings(max_examples=60, deadline=None)
@given(PHASES, st.integers(0, 2**63 - 1))
def test_every_plan(made: dict[str, Claims], seed: int) -> None:
    planned = plan(made, seed)
    assert planned.keys() == made.keys()
    for clip_id, calls in planned.items():
        kinds = Counter(call.kind for call in calls)
        assert len(calls) <= 12
        assert len(set(calls)) == len(calls)
        assert kinds["original"] == 1
        extra = kinds["twin"] + kinds["keep"] + kinds["decoy"]
        assert kinds["cue"] + extra == 3
        assert extra <= 1
        assert kinds["decoy"] == 0 or made[clip_id].space is None
        assert len({call.operator for call in calls if call.kind in {"space", "keep", "decoy"}}) <= 1
        for axis, weights in (("space", made[clip_id].space), ("time", made[clip_id].time)):
            parts = by_part(calls, axis)
            if weights is None or len(weights) == 1:
                assert not parts
                continue
            assert {"top", "bottom"} <= parts.keys()
            top, bottom = (set(parts[name].places or ()) for name in ("top", "bottom"))
            assert len(top) == len(bottom) <= len(weights) / 2
            assert not top & bottom
            assert min(weights[list(top)]) >= max(weights[[n for n in range(len(weights)) if n not in top]])
            assert max(weights[list(bottom)]) <= min(weights[[n for n in range(len(weights)) if n not in bottom]])
            assert ("own" in parts) == ("other" in parts)
            if "own" in parts:
                own, other = (set(parts[name].places or ()) for name in ("own", "other"))
                assert own <= top
                assert not other & top
                assert len(own) == len(other) > 0
                assert parts["own"].partner == parts["other"].partner not in {None, clip_id}
            for call in parts.values():
                assert call.places == tuple(sorted(call.places or ()))


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


def test_partners_are_clips_that_say_something_else() -> None:
    planned = plan(claims(24, 3))
    for axis in ("space", "time"):
        partners = {name: by_part(calls, axis)["own"].partner for name, calls in planned.items()}
        assert all(name != partner for name, partner in partners.items())
        assert len(set(partners.values())) >= 12  # neighbours in a circle, but for those that say the same


def test_the_partner_is_one_that_differs_where_most_clips_say_the_same() -> None:
    same, other = np.array([0.0, 0, 0, 0, 1]), np.array([1.0, 0, 0, 0, 0])
    made = {f"c{number}": Claims(None, other if number == 3 else same, ()) for number in range(6)}
    for name, calls in plan(made).items():
        if name != "c3":
            assert by_part(calls, "time")["own"].partner == "c3"


def test_one_map_for_all_clips_differs_nowhere() -> None:
    made = dict.fromkeys(claims(6, 0), Claims(np.array([0.0] * 140 + [1.0] * 4), np.array([0.0, 0, 0, 1, 1]), ()))
    for calls in plan(made).values():
        assert by_part(calls, "space").keys() == by_part(calls, "time").keys() == {"top", "bottom"}


def test_a_single_clip_has_no_partner() -> None:
    (calls,) = plan(claims(1, 2)).values()
    assert by_part(calls, "space").keys() == {"top", "bottom"}


def test_a_quarter_has_a_twin_and_another_quarter_a_mask_of_all_but_the_named_places() -> None:
    planned = plan(claims(24, 5))
    kinds = [{call.kind for call in calls} for calls in planned.values()]
    assert sum("twin" in found for found in kinds) == sum("keep" in found for found in kinds) == 6
    assert sum(map(len, planned.values())) <= 288
    for calls in planned.values():
        for keep in (call for call in calls if call.kind == "keep"):
            top = by_part(calls, "space")["top"].places or ()
            assert set(keep.places or ()) == set(range(CELLS)) - set(top)
            assert keep.places == tuple(sorted(keep.places or ()))


def test_without_a_map_random_places_are_hidden_instead() -> None:
    planned = plan(dict.fromkeys(claims(8, 0), Claims(None, None, ())))
    kinds = Counter(call.kind for calls in planned.values() for call in calls)
    assert (kinds["keep"], kinds["decoy"]) == (0, 2)


def test_a_twin_follows_its_original() -> None:
    for calls in plan(claims(24, 6)).values():
        kinds = [call.kind for call in calls]
        if "twin" in kinds:
            assert kinds.index("twin") == kinds.index("original") + 1


def test_calls_come_in_an_order_of_their_own() -> None:
    planned = plan(claims(200, 9)).values()
    # 1 of 4 whole calls is the original, 1 of 3 beside a decoy, the last of 3 with a twin: first in about 42 clips.
    assert 25 <= sum(calls[0].kind == "original" for calls in planned) <= 60
    masked = Counter((call.kind, call.part) for calls in planned for call in calls[-1:])
    assert len(masked) == 9


def test_no_copy_comes_after_what_tells_the_original_from_it() -> None:
    for calls in plan(claims(200, 10)).values():
        kinds = [call.kind for call in calls]
        last_copy = max(place for place, kind in enumerate(kinds) if kind == "cue")
        telling = [place for place, kind in enumerate(kinds) if kind in {"space", "time", "keep", "decoy", "twin"}]
        assert min(telling) > last_copy


def test_ties_are_broken_evenly() -> None:
    # 2 of 4 equal places: each is chosen in half of the cases. 400 draws, standard deviation 10.
    chosen: Counter[int] = Counter()
    for number in range(400):
        ties = Draws(None, number).generator("ties").permutation(4)
        chosen.update(ranking(np.ones(4), ties)[:2].tolist())
    assert all(150 < chosen[place] < 250 for place in range(4))


def test_differences_of_rounding_are_ties() -> None:
    ties = np.array([3, 2, 1, 0])
    assert ranking(np.array([0.3, 0.1 + 0.2, 0.3, 0.3]), ties).tolist() == [3, 2, 1, 0]


# round half to even: 14.4 -> 14, 28.8 -> 29, 43.2 -> 43, 72; of 5 bins 0.5 -> 1 (at least one), 1, 1.5 -> 2, 2.5 -> 2.
@pytest.mark.parametrize(
    ("share", "places", "count"),
    [
        (0.1, 144, 14), (0.2, 144, 29), (0.3, 144, 43), (0.5, 144, 72), (0.1, 5, 1), (0.2, 5, 1), (0.3, 5, 2),
        (0.5, 5, 2), (0.5, 15, 7), (0.1, 2, 1), (0.5, 3, 1), (0.3, 1, 0),
    ],
)  # fmt: skip
def test_how_many_places_are_masked(share: float, places: int, count: int) -> None:
    assert masked_places(share, places) == count


def test_a_partner_of_another_length_is_stretched() -> None:
    long, short = np.array([0.0, 0, 0, 0, 0, 0, 0, 1]), np.array([1.0, 0, 0, 0])
    made = {"a": Claims(None, long, ()), "b": Claims(None, short, ())}
    calls = by_part(plan(made)["b"], "time")
    # The last of eight seconds is the last of four; one of four is masked, at most two.
    assert 3 in (calls["other"].places or ())
    assert 0 in (calls["own"].places or ())


def test_maps_over_time_are_averaged() -> None:
    evidence = Evidence(np.array([[[1.0, 0.0]], [[3.0, 2.0]]]), None, None)
    space = claims_of(evidence).space
    assert space is not None
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
    assert all(len(by_part(calls, "space")) == 4 for calls in planned.values())
