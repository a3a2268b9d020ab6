"""Places and times of the cues: exact, local, of a bounded size, and out of reach of a map of the middle."""

import json
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from bundle_tools.synthetic.clip import COLUMNS, PLACED, ROWS, ClipSpec, occupied, scene_of
from bundle_tools.synthetic.dataset import Member, plan
from bundle_tools.synthetic.folders import COMMITTED
from bundle_tools.synthetic.person import MAIN_TARGET, NEUTRAL, TARGETS
from tests import ROOT
from tests.stills import hold_pictures

PHASES = tuple(COMMITTED)
Mask = NDArray[np.bool_]


def members_of(phase: str) -> list[Member]:
    clips, seed = COMMITTED[phase]
    return plan(phase, clips=clips, seed=seed)


def causes_of(phase: str) -> dict[str, dict[str, dict[str, list[str]]]]:
    content = json.loads((ROOT / "reference_data" / phase / "causes.json").read_text(encoding="utf-8"))
    assert content["grid"] == {"rows": ROWS, "columns": COLUMNS}
    clips: dict[str, dict[str, dict[str, list[str]]]] = content["clips"]
    return clips


def unpacked(seconds: list[str]) -> Mask:
    """Return the cells of each second, shape (seconds, rows, columns)."""
    bits = np.array([[int(digit) for digit in f"{int(second, 16):0{ROWS * COLUMNS}b}"] for second in seconds], bool)
    return bits.reshape(-1, ROWS, COLUMNS)


@pytest.fixture(scope="module")
def spec() -> ClipSpec:
    spec = plan("practice", clips=2, seed=8)[0].spec
    return replace(spec, cues=replace(spec.cues, smile=0.95, gaze=0.05, motion=0.9, lighting=0.8))


@pytest.fixture(scope="module")
def cells(spec: ClipSpec) -> dict[str, Mask]:
    return occupied(spec)


@pytest.mark.slow
def test_a_cue_is_where_it_is_drawn(spec: ClipSpec, cells: dict[str, Mask]) -> None:
    scene = scene_of(spec)
    rows, columns = np.mgrid[0:ROWS, 0:COLUMNS] * 40 + 20
    x, y = (columns - scene.x) / scene.scale, (rows - scene.y) / scene.scale
    reach = 30 / scene.scale  # half the diagonal of a cell
    sunk = scene.acts.slump
    near = {
        "smile": np.hypot(x, y - 0.7 - sunk) < 1.0 + reach,
        "gaze": np.hypot(x, y + 0.1 - sunk) < 0.9 + reach,
        "motion": y > -1.9 - reach,
    }
    for cue in PLACED:
        assert cells[cue].any()
        assert not (cells[cue].any(axis=0) & ~near[cue]).any(), cue


def test_a_neutral_cue_occupies_nothing(spec: ClipSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    hold_pictures(monkeypatch)
    for cue in PLACED:
        assert not occupied(spec.without(cue), [cue])[cue].any()
    assert spec.without("smile").cues.smile == NEUTRAL


def test_a_smile_lasts_as_long_as_its_spell(spec: ClipSpec, cells: dict[str, Mask]) -> None:
    track = np.abs(scene_of(spec).acts.smile).reshape(5, 25)
    active: Mask = np.asarray(cells["smile"].reshape(5, -1).any(axis=1))
    assert np.all(active[(track > 0.3).mean(axis=1) > 0.6])
    assert not np.any(active[(track > 0).mean(axis=1) < 0.2])


@pytest.mark.slow
@pytest.mark.parametrize("phase", PHASES)
def test_the_committed_causes_are_what_the_generator_plans(phase: str) -> None:
    causes = causes_of(phase)
    members = members_of(phase)
    assert list(causes) == [member.clip_id for member in members]
    member = members[5]
    drawn = occupied(member.spec)
    for cue in PLACED:
        stored = unpacked(causes[member.clip_id]["space"][cue])
        # A different build of the drawing library may move a pixel across a threshold.
        assert (stored != drawn[cue]).sum() <= 3


@pytest.mark.parametrize("phase", PHASES)
def test_sizes_and_times_are_bounded(phase: str) -> None:
    causes = causes_of(phase)
    areas: dict[str, list[float]] = {cue: [] for cue in PLACED}
    for member in members_of(phase):
        entry = causes[member.clip_id]
        assert set(entry["space"]) == set(PLACED)
        assert set(entry["time"]) == {*PLACED, "words"}
        for cue in PLACED:
            cells = unpacked(entry["space"][cue])
            times = [int(active) for active in entry["time"][cue]]
            assert times == [int(second.any()) for second in cells]
            if abs(getattr(member.spec.cues, cue) - NEUTRAL) < 0.15:
                assert sum(times) <= 3  # too weak a cue may not show
            else:
                assert 1 <= sum(times) <= 3, (member.clip_id, cue)
                areas[cue].append(cells.any(axis=0).mean())
        assert len(entry["time"]["words"]) == 5
        assert sum(int(active) for active in entry["time"]["words"]) <= 3
    for cue, found in areas.items():
        # A mouth or a pair of eyes may lie in a cell or two of the 144.
        assert 1 / 144 <= min(found) <= max(found) <= 0.15, (cue, min(found), max(found))
        assert np.mean(found) >= 0.014, (cue, np.mean(found))


@pytest.mark.parametrize("phase", PHASES)
def test_a_map_of_the_middle_says_little(phase: str) -> None:
    rows, columns = np.mgrid[0:ROWS, 0:COLUMNS]
    y, x = (rows + 0.5) / ROWS - 0.5, (columns + 0.5) / COLUMNS - 0.5
    middle = np.exp(-(x**2 + y**2) / (2 * 0.25**2))
    found = []
    for entry in causes_of(phase).values():
        union = np.any([unpacked(seconds).any(axis=0) for seconds in entry["space"].values()], axis=0)
        if union.any():
            found.append(max(0.0, (roc_auc_score(union.ravel(), middle.ravel()) - 0.5) / 0.5))
    assert len(found) >= 20
    assert np.mean(found) <= 0.2


@pytest.mark.parametrize("phase", PHASES)
def test_texts_say_what_the_contributions_say(phase: str) -> None:
    content = json.loads((ROOT / "reference_data" / phase / "causes.json").read_text(encoding="utf-8"))
    for member in members_of(phase):
        entry = content["clips"][member.clip_id]
        assert set(entry["contributions"]) == set(TARGETS)
        assert len(entry["texts"]) == 2
        assert all(text.startswith(f"The {MAIN_TARGET} score is ") for text in entry["texts"])
