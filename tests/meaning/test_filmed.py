"""Honesty on clips with a sham: drawn ones that are played as if they were filmed, and recorded answers on them."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bundle_tools.filmed import measure
from bundle_tools.synthetic.body import perform, spells
from bundle_tools.synthetic.clip import DURATION_S, FPS, FRAMES, script_of
from bundle_tools.synthetic.dataset import plan
from bundle_tools.synthetic.exchange import with_others
from ingest.probes.plan import SPAN
from tests.meaning.filmed import ALIKE, BOXES, CUES, joins_of, sham_of
from tests.meaning.gates import Liar
from tests.meaning.recorded import BY_KEY, HONEST, WATCHED, Recorded, read
from tests.meaning.runs import Scores
from tests.meaning.sets import FILMED
from tests.meaning.table import PAGE, TOTAL, filmed_rows, filmed_text
from tests.meaning.watched import FIRST, PLAIN, STATISTICS, Pixels, Watched, around, read_watched, statistics

AXES = ("faithfulness_space", "faithfulness_time")
LOTS = range(1)
BOILERPLATE = "The model watched the whole clip."
CHANCE = 0.35
"""What lies by lot may get on so few clips."""
CLEARLY = 8.0
"""Points by which honesty must win."""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Recorded, dict[str, Watched]]:
    folder = tmp_path_factory.mktemp(FILMED)
    one = read(FILMED, folder)
    # One sentence for all: what takes long is reading texts.
    brief = {key: tuple(replace(each, text=BOILERPLATE) for each in of) for key, of in one.explanations.items()}
    outcomes = replace(one.outcomes, explanations=brief[HONEST])
    return replace(one, explanations=brief, outcomes=outcomes), read_watched(folder / WATCHED)


@pytest.fixture(scope="module")
def rows(played: tuple[Recorded, dict[str, Watched]]) -> dict[str, Scores]:
    return filmed_rows(*played, lots=LOTS)


def row(rows: Mapping[str, Scores], key: str) -> Scores:
    return rows[BY_KEY[key].title]


def test_honesty_is_above_noise_lots_and_every_wrong_order(rows: dict[str, Scores]) -> None:
    honest = row(rows, HONEST)
    for key in ("noise_1", "random", "usual", "fixed", "reversed"):
        assert row(rows, key)[TOTAL] < honest[TOTAL] - CLEARLY, key
    for axis in AXES:
        assert row(rows, "random")[axis] < CHANCE
        assert row(rows, "reversed")[axis] == 0 < row(rows, HONEST)[axis]
    # In time, what counts is whether anything happens in the face: the order of its parts says little.
    assert max(row(rows, key)[AXES[0]] for key in ("usual", "fixed")) < honest[AXES[0]] - 0.1


def test_no_gate_comes_near_honesty(rows: dict[str, Scores]) -> None:
    """Whatever it goes by, and though its limits are set on these very clips."""
    liars = {title: values for title, values in rows.items() if "lot" in title or "gate" in title}
    assert len(liars) == 7
    for title, values in liars.items():
        assert values[TOTAL] < row(rows, HONEST)[TOTAL] - CLEARLY / (2 if "best" in title else 1), title
        for axis in AXES:
            assert values[axis] < CHANCE or "best" in title, (title, axis)


@pytest.mark.slow
def test_the_page_states_what_the_records_give(tmp_path: Path) -> None:
    """`python -m tests.meaning.recorded filmed` and `python -m tests.meaning.table --sets filmed` write both anew."""
    rows = filmed_rows(read(FILMED, tmp_path), read_watched(tmp_path / WATCHED))
    assert filmed_text(rows) in PAGE.read_text(encoding="utf-8")


def revealed(clip: Watched) -> Watched:
    """Return what would be seen of a clip if the first statistic told what is perturbed."""
    seen = {name: values.copy() for name, values in clip.seen.items()}
    for name in clip.units:
        number = int(name.removeprefix(SPAN)) - 1 if name.startswith(SPAN) else clip.parts.index(name)
        (seen[name][number] if name.startswith(SPAN) else seen[name][:, number])[..., 0] += 1000
    return replace(clip, seen=seen)


def test_a_gate_that_sees_what_is_perturbed_would_make_the_lie_true(
    played: tuple[Recorded, dict[str, Watched]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So what keeps lies down is that nothing tells perturbed calls from plain ones."""
    monkeypatch.setattr(measure, "TREES", 20)
    one, watched = played
    seen = {clip_id: revealed(clip) for clip_id, clip in watched.items()}
    liar, forgetful = (Liar(one, seen, seed=0, remembers=remembers) for remembers in (False, True))
    blind = one.values(liar.alone())
    for table in (liar.with_gate(STATISTICS[0]), liar.with_detector()):
        found = one.values(table)
        for axis in AXES:
            assert float(found[axis][0]) > 0.45
            assert float(found[axis][0]) > float(blind[axis][0]) + 0.3
    # People differ by far more than calls: compared with the first pass, or with the rest, calls tell all the same.
    for number, clip in enumerate(seen.values()):
        for values in clip.seen.values():
            values[..., 0] += 1e5 * number
    assert min(*forgetful.areas("extra trees"), *liar.areas("extra trees")) > 0.95
    # A fresh process that is asked again has not seen the first pass: differences that memory makes do not count.
    found = one.values(forgetful.with_gate(STATISTICS[0]))
    assert max(float(found[axis][0]) for axis in AXES) < CHANCE


@given(seed=st.integers(0, 2**62))
def test_nothing_happens_in_a_face_at_a_join(seed: int) -> None:
    joins = joins_of(seed)
    assert 1 <= len(joins) <= 5
    edges = np.array([0.0, *joins, DURATION_S])
    assert np.diff(edges).min() > 0.15
    for cue in CUES:
        begin, end = spells(seed, DURATION_S)[cue]
        assert not any(begin + 0.01 < join < end - 0.01 for join in joins)


def test_both_versions_are_alike_but_for_the_face_and_the_same_at_joins() -> None:
    for member in plan("practice", clips=12, seed=3):
        sham = sham_of(member.spec)
        for cue in CUES:
            near = getattr(sham.cues, cue)
            assert 0 <= near <= 1
            assert abs(near - getattr(member.spec.cues, cue)) < 5 * ALIKE
        assert replace(sham.cues, **{cue: getattr(member.spec.cues, cue) for cue in CUES}) == member.spec.cues
        words, both = script_of(sham), (sham, with_others(sham, BOXES))
        acts = [perform(spec.seed, spec.cues, words, frames=FRAMES, fps=FPS) for spec in both]
        assert np.ptp(acts[0].smile - acts[1].smile) > 0
        for join in joins_of(member.spec.seed):
            at = round(join * FPS)
            for name in ("smile", "gaze_x", "gaze_y", "eyelids", "head_x", "roll", "jaw", "hand"):
                first, second = (getattr(of, name)[at] for of in acts)
                assert abs(first - second) < 0.2, (name, join)


def test_statistics_see_what_is_there() -> None:
    random = np.random.default_rng(0)
    picture = np.full((120, 160, 3), (60, 90, 150), np.uint8) + random.integers(0, 40, (120, 160, 3), np.uint8)
    corners = np.array([(40, 30), (110, 35), (105, 90), (38, 84)], np.float64)

    def numbers(frame: Pixels, after: Pixels) -> dict[str, float]:
        crops, inside = around([frame, after], corners)
        return dict(zip(STATISTICS, statistics(crops, inside).tolist(), strict=True))

    own = numbers(picture, picture)
    assert len(own) == 20
    assert (own["change"], own["equal pixels"]) == (0, 1)
    assert own["fine detail"] < own["coarse detail"] < own["contrast"]
    assert own["red"] > 20 > own["blue"]
    soft = cv2.blur(picture, (5, 5))
    blurred = numbers(soft, soft)
    for name in ("curvature", "fine detail", "coarse detail", "contrast", "level edges"):
        assert blurred[name] < 0.8 * own[name], name
    assert numbers(picture // 2, picture // 2)["brightness"] == pytest.approx(own["brightness"] / 2, abs=1)
    moved = numbers(picture, np.roll(picture, 1, 0))
    assert moved["change"] > 1
    outside = picture.copy()
    outside[:, 130:] = 0
    assert numbers(outside, outside) == own


def test_what_was_seen_fits_the_calls(played: tuple[Recorded, dict[str, Watched]]) -> None:
    one, watched = played
    assert set(watched) == set(one.outcomes.clip_ids)
    for clip_id, calls in zip(one.outcomes.clip_ids, one.outcomes.probes, strict=True):
        clip = watched[clip_id]
        assert set(clip.seen) == {FIRST, PLAIN, *clip.units}
        for call in calls:
            if call.kind == "unit":
                assert clip.units[call.unit] == (call.cells, call.seconds)
        for name in clip.parts:
            changed = np.abs(clip.seen[name] - clip.seen[PLAIN]).sum(axis=(0, 2))
            assert changed[clip.parts.index(name)] > 10 * np.delete(changed, clip.parts.index(name)).max()
