"""Which altered copies are asked for: properties of the plan, and the numbers behind it."""

import hmac
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.draws import KeyedRandom
from ingest.media.exchange import Corners, Exchange, Part
from ingest.probes.plan import EXCHANGE, MOST_CALLS, QUIET, Call, CueEdit, group_calls, plan_calls
from ingest.settings import JitterRange, ProbeSettings

GRID = (9, 16)
SETTINGS = ProbeSettings(3, JitterRange(0.01, 2, 1))
EDITS = [CueEdit(cue, "copy") for cue in ("smile", "gaze", "lighting")]
SQUARE: Corners = ((0.25, 0.25), (0.5, 0.25), (0.5, 0.5), (0.25, 0.5))


def lengths(count: int, seconds: int = 5) -> dict[str, int]:
    """Return clips of some seconds."""
    return {f"c{number:04d}": seconds for number in range(count)}


def plan(
    clips: dict[str, int], seed: int = 7, key: bytes | None = None, exchanges: dict[str, Exchange] | None = None
) -> dict[str, list[Call]]:
    draws = KeyedRandom(partial(hmac.digest, key, digest="sha256") if key else None, seed)
    return plan_calls(clips, dict.fromkeys(clips, EDITS), exchanges or {}, SETTINGS, GRID, draws)


def units(calls: list[Call]) -> list[Call]:
    return [call for call in calls if call.kind == "unit"]


def part(name: str, event_s: tuple[float, float] | None) -> Part:
    """Return a part, which is only heard if it is called words."""
    return Part(name, (), event_s, "other words") if name.startswith("words") else Part(name, SQUARE, event_s)


EVENTS = st.tuples(st.floats(0, 4.9), st.floats(0.01, 3)).map(lambda drawn: (drawn[0], drawn[0] + drawn[1]))
NAMES = ("mouth", "mouth-2", "eyes", "hand", "hand-12", "words-1", "words-2", "head")
PARTS = st.builds(
    lambda events, things: (*(part(*event) for event in events.items()), *(part(f"thing-{n}", None) for n in things)),
    st.dictionaries(st.sampled_from(NAMES), EVENTS),
    st.sets(st.integers(0, 9)),
)
SEEDS = st.integers(0, 2**63 - 1)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 12), st.integers(1, 16), SEEDS)
def test_every_plan_of_clips_without_an_exchange(count: int, seconds: int, seed: int) -> None:
    planned = plan(lengths(count, seconds), seed)
    assert len(planned) == count
    for calls in planned.values():
        kinds = Counter(call.kind for call in calls)
        assert len(group_calls(calls)) <= MOST_CALLS
        assert len(set(calls)) == len(calls)
        assert kinds["original"] == 1
        assert kinds["twin"] <= 1
        assert kinds["cue"] + kinds["twin"] == 3
        assert not units(calls)


@settings(max_examples=150, deadline=None)
@given(PARTS, st.integers(5, 9), SEEDS)
def test_every_plan_of_clips_with_an_exchange(parts: tuple[Part, ...], seconds: int, seed: int) -> None:
    (calls,) = plan({"c": seconds}, seed, exchanges={"c": Exchange(Path("x"), "", parts)}).values()
    assert len(group_calls(calls)) <= MOST_CALLS
    by_name, things = {part.name: part for part in parts}, {part.name for part in parts if part.event_s is None}
    taken: set[int] = set()
    made = units(calls)
    for unit in made:
        assert unit.operator == EXCHANGE
        assert unit.cells or unit.seconds
        assert list(unit.cells) == sorted(set(unit.cells))
        if unit.unit == QUIET:
            continue
        if unit.unit == "things":
            assert (set(unit.parts), unit.seconds) == (things, ())
            continue
        (name,) = unit.parts
        assert unit.unit == name.split("-")[0]
        assert bool(unit.cells) == (not name.startswith("words"))
        (second,) = unit.seconds
        taken.add(second)
        start, end = by_name[name].event_s or (0.0, 0.0)
        held = [max(0.0, min(end, other + 1) - max(start, other)) for other in range(seconds)]
        assert second == held.index(max(held))
    events = sum(part.event_s is not None for part in parts)
    assert len([unit for unit in made if unit.unit != QUIET]) == min(5, events + bool(things))
    quiet = [unit for unit in made if unit.unit == QUIET]
    assert len(quiet) <= 1
    for unit in quiet:
        assert (unit.parts, unit.cells) == ((), ())
        assert not taken & set(unit.seconds)
    assert quiet or not made or events >= seconds
    # The original answers for it.
    assert len(group_calls(calls)) == len(calls) - len(quiet) - sum(call.kind == "twin" for call in calls)


def test_units_by_hand() -> None:
    parts = [part("mouth", (0.25, 1.75)), part("eyes", (3.9, 5.0)), part("words", (2.1, 2.9)), part("thing-1", None),
             Part("thing-4", ((0.75, 0.0), (1.0, 0.0), (1.0, 0.25), (0.75, 0.25)), None)]  # fmt: skip
    (calls,) = plan({"c": 6}, exchanges={"c": Exchange(Path("x"), "", tuple(parts))}).values()
    made = {call.unit: call for call in units(calls)}
    assert made.keys() == {"mouth", "eyes", "words", "things", QUIET}
    assert {kind: call.seconds for kind, call in made.items() if kind != QUIET} == {
        "mouth": (0,), "eyes": (4,), "words": (2,), "things": ()
    }  # fmt: skip
    assert made["things"].parts == ("thing-1", "thing-4")
    assert set(made["things"].cells) > set(made["mouth"].cells) == set(made["eyes"].cells)
    assert made["words"].cells == ()
    assert made[QUIET].seconds == (5,)  # the only one in which nothing begins or ends


def test_no_second_that_holds_a_part_of_an_event_is_quiet_if_there_is_another() -> None:
    exchange = Exchange(Path("x"), "", (part("mouth", (1.5, 3.2)),))
    plans = [plan({"c": 5}, seed, exchanges={"c": exchange})["c"] for seed in range(40)]
    seconds = {call.seconds for calls in plans for call in calls if call.unit == QUIET}
    assert seconds == {(0,), (4,)}
    exchange = Exchange(Path("x"), "", (part("mouth", (0.5, 2.5)),))
    (call,) = (call for call in units(plan({"c": 3}, exchanges={"c": exchange})["c"]) if call.unit == QUIET)
    assert call.seconds in {(0,), (2,)}


def test_more_units_than_there_is_room_for_are_drawn() -> None:
    events = tuple(part(f"event-{n}", (n / 2, n / 2 + 0.4)) for n in range(9))
    exchange = Exchange(Path("x"), "", (*events, part("thing-1", None)))
    seen: Counter[str] = Counter()
    for seed in range(100):
        (calls,) = plan({"c": 9}, seed, exchanges={"c": exchange}).values()
        chosen = [call for call in units(calls) if call.unit != QUIET]
        assert len(chosen) == 5
        seen.update(name for call in chosen for name in call.parts)
    assert len(seen) == 10
    assert min(seen.values()) > 25


def test_a_part_that_is_neither_seen_nor_heard_is_no_unit() -> None:
    for event_s in (None, (1.0, 2.0)):
        nothing = Exchange(Path("x"), "", (Part("corner", ((1.0, 1.0),) * 3, event_s),))
        assert not units(plan({"c": 5}, exchanges={"c": nothing})["c"])


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 12), st.integers(1, 16), SEEDS, st.randoms())
def test_the_order_in_which_clips_and_parts_are_listed_changes_nothing(
    count: int, seconds: int, seed: int, random: "np.random.Generator"
) -> None:
    clips = lengths(count, seconds)
    parts = [part("mouth", (0.1, 0.9)), part("words", (0.3, 0.5)), part("thing-1", None), part("thing-2", None)]
    names = list(clips)
    first = {name: Exchange(Path("x"), "", tuple(parts)) for name in names[::2]}
    wanted = plan(clips, seed, exchanges=first)
    random.shuffle(names)
    again = plan({name: clips[name] for name in names}, seed, exchanges=dict(reversed(first.items())))
    assert list(again.items()) == list(wanted.items())


def test_a_key_and_a_seed_decide() -> None:
    clips = lengths(8)
    plans = [plan(clips), plan(clips, key=b"k"), plan(clips, 8)]
    assert plans[0] == plan(clips)
    assert plans[0] != plans[1] != plans[2] != plans[0]


def test_a_quarter_has_a_twin() -> None:
    kinds = [{call.kind for call in calls} for calls in plan(lengths(24)).values()]
    assert sum("twin" in found for found in kinds) == 6


def test_calls_that_show_the_same_are_asked_once() -> None:
    original, twin = Call("c", "original"), Call("c", "twin")
    copy, other = Call("c", "cue", "copy", cue="smile"), Call("c", "cue", "copy", cue="gaze")
    mouth = Call("c", "unit", EXCHANGE, "mouth", ("mouth",), (3, 4), (1,))
    idle = Call("c", "unit", EXCHANGE, QUIET, seconds=(2,))
    calls = [copy, original, twin, other, mouth, idle]
    assert group_calls(calls) == [[copy], [original, twin, idle], [other], [mouth]]


def test_a_twin_follows_its_original() -> None:
    for calls in plan(lengths(24)).values():
        kinds = [call.kind for call in calls]
        if "twin" in kinds:
            assert kinds.index("twin") == kinds.index("original") + 1


def test_calls_come_in_an_order_of_their_own() -> None:
    parts = (part("mouth", (0.1, 0.9)), part("eyes", (2.1, 2.9)), part("thing-1", None))
    exchanges = dict.fromkeys(lengths(200), Exchange(Path("x"), "", parts))
    planned = plan(lengths(200), 9, exchanges=exchanges).values()
    # 1 of 4 whole calls is the original, the last of 3 with a twin: first in about 38 clips.
    assert 22 <= sum(calls[0].kind == "original" for calls in planned) <= 56
    assert len({call.unit for calls in planned for call in calls[-1:]}) == 4
    # No copy comes after what tells the original from it.
    for calls in planned:
        kinds = [call.kind for call in calls]
        last_copy = max(place for place, kind in enumerate(kinds) if kind == "cue")
        telling = [place for place, kind in enumerate(kinds) if kind in {"unit", "twin"}]
        assert min(telling) > last_copy
