"""Exchanges: parts of a second drawing take the place of what is hidden, and nothing else tells that it was."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import pytest

from ingest.clips.exchanges import read_exchanges
from ingest.errors import Problem
from ingest.media.altered.alteration import Alteration
from ingest.media.altered.draws import Draws
from ingest.media.altered.exchange import Exchange, Part
from ingest.media.altered.jitter import Jitter
from ingest.media.altered.material import Material
from ingest.media.altered.painter import Painter
from ingest.media.video import Frame, FrameReader
from ingest.probes.plan import EXCHANGE, UNITS, Call, Claims, askings, plan_calls
from tests.ingestion.clips import Format, write_clip
from tests.ingestion.conftest import Outcome, follows, write_phase
from tests.ingestion.probes.test_probe_plan import EDITS, GRID, SETTINGS
from tests.ingestion.probes.test_second_pass import BLIND, probing, source, write_copies

Ingest = Callable[..., Outcome]
STILL = Jitter(1.0, 1.0, 0, 0, 0)
WIDTH, HEIGHT, FRAMES = 160, 90, 75
LIGHT = 240
PARTS: list[dict[str, Any]] = [
    {"name": "left", "outline": [[0, 0], [48, 0], [48, 90], [0, 90]], "event_s": [0.2, 1.4]},
    {"name": "right", "outline": [[112, 0], [160, 0], [160, 90], [112, 90]], "event_s": [1.9, 3.0]},
    {"name": "thing", "outline": [[64, 0], [96, 0], [96, 40]]},
]
MADE = tuple(
    Part(
        part["name"],
        tuple((x / WIDTH, y / HEIGHT) for x, y in part["outline"]),
        tuple(part["event_s"]) if "event_s" in part else None,
    )
    for part in PARTS
)


def write_flat(path: Path, level: int, frames: int = FRAMES, width: int = WIDTH) -> Path:
    """Write a clip of one grey."""
    with av.open(str(path), "w") as container:
        video = container.add_stream("libx264", rate=25)
        assert isinstance(video, av.VideoStream)
        video.width, video.height, video.pix_fmt = width, HEIGHT, "yuv420p"
        for _ in range(frames):
            picture = np.full((HEIGHT, width, 3), level, np.uint8)
            container.mux(video.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(video.encode(None))
    return path


@pytest.fixture(scope="module")
def media(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clip of numbers, a second drawing all in light grey, one that is shorter and one that is narrower."""
    folder = tmp_path_factory.mktemp("media")
    write_clip(folder / "clip.mp4", FRAMES, Format(width=WIDTH, height=HEIGHT, rate=16_000))
    write_flat(folder / "second.mp4", LIGHT)
    write_flat(folder / "shorter.mp4", LIGHT, frames=60)
    write_flat(folder / "narrow.mp4", LIGHT, width=144)
    (folder / "broken.mp4").write_bytes(b"no video")
    return folder


def entry(media: Path, file: str = "second.mp4", **changes: Any) -> dict[str, Any]:  # noqa: ANN401
    digest = hashlib.sha256((media / file).read_bytes()).hexdigest()
    return {"file": f"exchanges/{file}", "sha256": digest, "parts": PARTS, **changes}


def listed(folder: Path, media: Path, clips: dict[str, Any]) -> None:
    (folder / "exchanges").mkdir(exist_ok=True)
    for path in media.glob("*.mp4"):
        (folder / "exchanges" / path.name).write_bytes(path.read_bytes())
    (folder / "exchanges.json").write_text(json.dumps({"format_version": 1, "clips": clips}))


def read(folder: Path, media: Path) -> tuple[dict[str, Exchange], list[Problem]]:
    problems: list[Problem] = []
    return read_exchanges(folder, "exchanges.json", {"c000": media / "clip.mp4"}, problems), problems


def test_a_list_is_read(media: Path, tmp_path: Path) -> None:
    listed(tmp_path, media, {"c000": entry(media)})
    exchanges, problems = read(tmp_path, media)
    assert not problems
    assert exchanges["c000"].parts == MADE


OUTSIDE = [{"name": "left", "outline": [[0, 0], [161, 0], [40, 90]]}]
BROKEN: dict[str, tuple[str, dict[str, Any]]] = {
    "no file": ("exchange_entry", {"file": None}),
    "no outline": ("exchange_entry", {"parts": [{"name": "left"}]}),
    "two corners": ("exchange_entry", {"parts": [{"name": "left", "outline": [[0, 0], [9, 9]]}]}),
    "outside of the picture": ("exchange_entry", {"parts": OUTSIDE}),
    "ends before it begins": ("exchange_entry", {"parts": [{**PARTS[0], "event_s": [2, 1]}]}),
    "a part twice": ("exchange_entry", {"parts": [PARTS[0], PARTS[0]]}),
    "another content": ("clip_changed", {"sha256": "0" * 64}),
    "not there": ("clip_missing", {"file": "exchanges/lost.mp4"}),
    "shorter": ("exchange_differs", {"file": "shorter.mp4"}),
    "narrower": ("exchange_differs", {"file": "narrow.mp4"}),
    "no video": ("exchange_differs", {"file": "broken.mp4"}),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_wrong_names_the_clip(name: str, media: Path, tmp_path: Path) -> None:
    code, changes = BROKEN[name]
    file = changes.get("file") or ""
    own = entry(media, file) if (media / file).is_file() else {**entry(media), **changes}
    listed(tmp_path, media, {"c000": own})
    exchanges, problems = read(tmp_path, media)
    assert not exchanges
    assert [(problem.code, problem.fault) for problem in problems] == [(code, "organiser")]
    assert "c000" in problems[0].where


@pytest.mark.parametrize("text", ["{", "[]", '{"format_version": 2, "clips": {}}', '{"format_version": 1}'])
def test_a_list_of_another_form_is_one_problem(text: str, media: Path, tmp_path: Path) -> None:
    (tmp_path / "exchanges.json").write_text(text)
    assert [problem.code for problem in read(tmp_path, media)[1]] == ["exchanges_unreadable"]


def test_an_unknown_clip_is_told(media: Path, tmp_path: Path) -> None:
    listed(tmp_path, media, {"c000": entry(media), "c9": entry(media)})
    exchanges, (problem,) = read(tmp_path, media)
    assert (set(exchanges), problem.code) == ({"c000"}, "clip_unknown")


def test_where_and_when_a_part_lies() -> None:
    left, right, thing = MADE
    cells = left.in_cells(*GRID).reshape(GRID)
    assert cells.sum() == pytest.approx(1)
    assert (cells > 0).any(axis=0).sum() == pytest.approx(5, abs=1)  # 48 of 160 pixels are 4.8 of 16 columns
    np.testing.assert_allclose(left.in_seconds(3), [0.8 / 1.2, 0.4 / 1.2, 0], atol=1e-9)
    np.testing.assert_allclose(right.in_seconds(3), [0, 0.1 / 1.1, 1.0 / 1.1], atol=1e-9)
    assert not thing.in_seconds(3).any()


def test_a_corner_that_an_outline_repeats_is_kept_once() -> None:
    corners = [tuple(json.loads(text)) for text in ("[0.0, 0.0]", "[0.5, 0.0]", "[0.5, 0.5]", "[0.5, 0.5]")]
    part = Part("thing", tuple(corners), None)
    assert part.outline == tuple(corners)
    assert part.outline[2] is part.outline[3]


def show(media: Path, *exchanged: str, exchange: bool = True, index: int = 40) -> Frame:
    second = Exchange(media / "second.mp4", "", MADE) if exchange else None
    alteration = Alteration(Material(media / "clip.mp4"), STILL, 0, exchange=second, exchanged=exchanged)
    painter = Painter(alteration, (HEIGHT, WIDTH, 3))
    reader = FrameReader(media / "clip.mp4", threads=1)
    out = np.empty((HEIGHT, WIDTH, 3), np.uint8)
    reader.read_into(index, out, painter)
    reader.close()
    painter.close()
    return out


def test_the_second_drawing_is_seen_where_a_part_is_exchanged_and_nowhere_else(media: Path) -> None:
    plain = show(media, exchange=False)
    np.testing.assert_array_equal(show(media), plain)
    for part in MADE:
        mask = part.mask(HEIGHT, WIDTH).view(np.uint8)
        edge = np.ones((7, 7), np.uint8)  # which is soft
        inside, near = cv2.erode(mask, edge) > 0, cv2.dilate(mask, edge) > 0
        shown = show(media, part.name)
        assert np.abs(shown[inside].astype(int) - LIGHT).max() <= 3
        np.testing.assert_array_equal(shown[~near], plain[~near])
    both = show(media, "left", "thing")
    np.testing.assert_array_equal(both[:, 104:], plain[:, 104:])


def planned(made: dict[str, Claims], parts: tuple[Part, ...] = MADE, seed: int = 7) -> dict[str, list[Call]]:
    exchanges = dict.fromkeys(made, Exchange(Path("x"), "", parts))
    return plan_calls(made, dict.fromkeys(made, EDITS), exchanges, SETTINGS, GRID, Draws(None, seed))


SOME = Claims(np.arange(144.0), np.arange(3.0), ())


def test_every_part_is_exchanged_by_itself_and_every_second_with_what_happens_in_it() -> None:
    (calls,) = planned({"c0": SOME}).values()
    space = {call.exchanged: call for call in calls if call.kind == "space"}
    time = {call.places: call for call in calls if call.kind == "time"}
    assert space.keys() == {("left",), ("right",), ("thing",)}
    assert {call.operator for call in (*space.values(), *time.values())} == {EXCHANGE}
    assert {places: call.exchanged for places, call in time.items()} == {(0,): ("left",), (1,): (), (2,): ("right",)}
    left = np.zeros(144, dtype=bool)
    left[list(space["left",].places or ())] = True
    assert left.reshape(GRID)[:, :4].all()
    assert not left.reshape(GRID)[:, 5:].any()
    # What shows the same is asked once: two seconds with their parts, one with the original.
    assert len(askings(calls)) == len(calls) - 3 - sum(call.kind == "twin" for call in calls)


def test_what_is_there_all_the_time_is_dealt_by_lot() -> None:
    things = tuple(Part(f"thing-{n}", MADE[2].outline, None) for n in range(9))
    seen = set()
    for seed in range(10):
        (calls,) = planned({"c0": SOME}, (*MADE[:2], *things), seed).values()
        groups = [call.exchanged or () for call in calls if call.kind == "space"]
        assert len(groups) == UNITS
        assert {("left",), ("right",)} <= set(groups)
        assert sorted(name for group in groups for name in group) == ["left", "right", *(one.name for one in things)]
        assert {len(group) for group in groups} <= {1, 2, 3}
        seen.add(frozenset(groups))
    assert len(seen) == 10


def test_a_cell_that_a_part_only_touches_is_not_where_it_lies() -> None:
    corner = 1.1 / np.array([GRID[1], GRID[0]])
    thing = Part("thing", ((0, 0), (corner[0], 0), (corner[0], corner[1]), (0, corner[1])), None)
    (calls,) = planned({"c0": SOME}, (*MADE[:2], thing)).values()
    (places,) = (call.places for call in calls if call.exchanged == ("thing",) and call.kind == "space")
    assert places == (0,)


def test_a_run_shows_what_its_record_says(media: Path, tmp_path: Path, ingest: Ingest) -> None:
    clip = media / "clip.mp4"
    folder = write_phase(tmp_path / "input", [clip] * 3, probing(copies="copies.csv", exchanges="exchanges.json"))
    write_copies(folder, clip, 3)
    listed(folder, media, {f"c00{number}": entry(media) for number in range(3)})
    # The bars of a number are darker than the second drawing.
    predict = "frame = clip.frame_at(1.0); return {'warmth': 0.5, 'interview': float(frame[:, 6:24].min() > 228)}"
    outcome = ingest(source(predict), input_data=folder)
    lines = [line for line in outcome.lines("probes.jsonl") if not line["again"]]
    for line in lines:
        follows("probes.jsonl")(line)
        if line["kind"] != "twin":
            assert line["prediction"]["interview"] == ("left" in (line["exchanged"] or ())), line
    assert {line["operator"] for line in lines} == {None, "copy", "exchange"}
    assert any("left" in (line["exchanged"] or ()) for line in lines)


def test_a_broken_list_stops_the_run_and_names_the_clip(media: Path, tmp_path: Path, ingest: Ingest) -> None:
    folder = write_phase(tmp_path / "input", [media / "clip.mp4"], probing(exchanges="exchanges.json"))
    listed(folder, media, {"c000": entry(media, "shorter.mp4")})
    outcome = ingest(source(), input_data=folder)
    assert outcome.json("run.json")["status"] == "organiser_error"
    assert outcome.run_codes() == ["exchange_differs"]
    assert "clip c000" in outcome.printed


def test_more_events_than_units_share_one_and_what_has_no_area_is_left_out() -> None:
    many = tuple(Part(f"event-{n}", MADE[2].outline, (n / 4, n / 4 + 0.2)) for n in range(9))
    corner = Part("corner", ((1.0, 1.0),) * 3, None)
    (calls,) = planned({"c0": SOME}, (*many, corner)).values()
    groups = [call.exchanged or () for call in calls if call.kind == "space"]
    assert sorted(map(len, groups)) == [1] * 5 + [4]
    assert "corner" not in {name for group in groups for name in group}


def test_an_exchange_that_is_spoiled_during_the_run_is_told(media: Path, tmp_path: Path, ingest: Ingest) -> None:
    folder = write_phase(tmp_path / "input", [media / "clip.mp4"] * 3,
                         probing(exchanges="exchanges.json", isolation={"at_most": "portable"}))  # fmt: skip
    listed(folder, media, {f"c00{number}": entry(media) for number in range(3)})
    second = str(folder / "exchanges" / "second.mp4")
    outcome = ingest(source(f"open({second!r}, 'wb').close(); {BLIND}"), input_data=folder)
    run = outcome.json("run.json")
    assert (run["status"], run["clips"]["ok"]) == ("complete", 3), outcome.printed
    (lost,) = [problem for problem in run["problems"] if problem["code"] == "clip_lost"]
    assert lost["where"].startswith("clip c00")


def test_an_exchange_without_parts_hides_nothing() -> None:
    for calls in planned({"c0": SOME, "c1": SOME}, ()).values():
        assert not any(call.kind == "space" or call.exchanged for call in calls)
