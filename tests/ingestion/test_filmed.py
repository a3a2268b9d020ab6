"""Exchanges of filmed clips: the second pass shows A' in place of the clip, and B in a part, or for a span of time."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ingest.data import Dataset
from ingest.draws import KeyedRandom
from ingest.media.alteration import ClipSource
from ingest.media.blend import Composite
from ingest.media.exchange import Exchange, Part
from ingest.probes.copies import CopyFactory
from ingest.probes.plan import Call, filmed_units
from tests import there
from tests.ingestion.clips import Format, write_clip
from tests.ingestion.conftest import Outcome, follows, write_phase
from tests.ingestion.test_exchanges import FRAMES, HEIGHT, WIDTH, entry, listed, read, task  # noqa: F401 - a fixture
from tests.ingestion.test_second_pass import probing, source

Ingest = Callable[..., Outcome]
KEYS: list[Any] = [[0.0, [[8, 8], [60, 8], [60, 80]]], [1.0, [[10, 8], [62, 8], [62, 80]]]]
PARTS = [{"name": "mouth", "keys": KEYS}, {"name": "eyes", "outline": [[90, 8], [150, 8], [150, 80], [90, 80]]}]
JOINS = [1.0, 2.0]
FOUR: list[Any] = [1.0, [*KEYS[1][1], [8, 80]]]
WIDE = [0.0, [[0, 0], [161, 0], [9, 9]]]
PLAIN, OTHER = 120, 240
"""Greys of A' and B; the clip is white."""


@pytest.fixture(scope="module")
def media(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("filmed")
    for name, grey in (("clip", 255), ("first", PLAIN), ("second", OTHER)):
        write_clip(folder / f"{name}.mp4", FRAMES, Format(width=WIDTH, height=HEIGHT, grey=grey))
    write_clip(folder / "shorter.mp4", 60, Format(width=WIDTH, height=HEIGHT))
    return folder


def filmed(media: Path, shown: str = "first.mp4", **changes: Any) -> dict[str, Any]:  # noqa: ANN401
    digest = entry(media, shown)["sha256"]
    plain = {"file": f"exchanges/{shown}", "sha256": digest}
    return entry(media, "second.mp4", **{"parts": PARTS, "first": plain, "joins_s": JOINS, **changes})


def test_a_list_of_filmed_clips_is_read(media: Path, tmp_path: Path) -> None:
    listed(tmp_path, media, {"c000": filmed(media)})
    exchanges, problems = read(tmp_path, media)
    assert not problems
    exchange = exchanges["c000"]
    assert there(exchange.first).name == "first.mp4"
    assert exchange.first_sha256 == filmed(media)["first"]["sha256"]
    assert exchange.spans_s(3.0) == [(0, 1), (1, 2), (2, 3)]
    mouth, eyes = exchange.parts
    assert [time for time, _ in mouth.keys] == [0.0, 1.0]
    assert eyes.keys == ()
    # The outline of a moving part is around all of its outlines.
    corners = {(round(x * WIDTH), round(y * HEIGHT)) for x, y in mouth.outline}
    assert corners == {(8, 8), (62, 8), (62, 80), (60, 80)}


BROKEN: dict[str, tuple[str, dict[str, Any]]] = {
    "joins that go back": ("exchange_entry", {"joins_s": [2, 1]}),
    "a join after the end": ("exchange_entry", {"joins_s": [1, 3.5]}),
    "joins that are no list": ("exchange_entry", {"joins_s": 1}),
    "a first without a hash": ("exchange_entry", {"first": {"file": "exchanges/first.mp4"}}),
    "a first of another content": ("clip_changed", {"first": {"file": "exchanges/first.mp4", "sha256": "0" * 64}}),
    "times that go back": ("exchange_entry", {"parts": [{"name": "mouth", "keys": KEYS[::-1]}]}),
    "keys and an outline": ("exchange_entry", {"parts": [{**PARTS[0], "outline": KEYS[0][1]}]}),
    "one corner more": ("exchange_entry", {"parts": [{"name": "mouth", "keys": [KEYS[0], FOUR]}]}),
    "outside of the picture": ("exchange_entry", {"parts": [{"name": "mouth", "keys": [WIDE]}]}),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_wrong_names_the_clip(name: str, media: Path, tmp_path: Path) -> None:
    code, changes = BROKEN[name]
    listed(tmp_path, media, {"c000": filmed(media, **changes)})
    exchanges, problems = read(tmp_path, media)
    assert not exchanges
    assert [problem.code for problem in problems] == [code]
    assert "c000" in problems[0].where


def test_a_first_of_another_length_is_refused(media: Path, tmp_path: Path) -> None:
    listed(tmp_path, media, {"c000": filmed(media, "shorter.mp4")})
    assert [problem.code for problem in read(tmp_path, media)[1]] == ["exchange_differs"]


def test_units_are_each_part_and_each_span() -> None:
    parts = tuple(Part(name, ((x, 0.1), (x + 0.4, 0.1), (x, 0.5)), None) for name, x in (("eyes", 0), ("mouth", 0.5)))
    exchange = Exchange(Path("second"), "", parts, joins_s=(1.6, 3.0))
    units = filmed_units("c", exchange, 5, (9, 16), 9, KeyedRandom(None, 1))
    assert {unit.unit: (unit.parts, unit.seconds) for unit in units} == {
        "eyes": (("eyes",), ()),
        "mouth": (("mouth",), ()),
        "span-1": (("eyes", "mouth"), (0, 1)),
        "span-2": (("eyes", "mouth"), (2,)),
        "span-3": (("eyes", "mouth"), (3, 4)),
    }
    assert all(unit.cells if unit.unit in ("eyes", "mouth") else not unit.cells for unit in units)
    few = filmed_units("c", exchange, 5, (9, 16), 3, KeyedRandom(None, 1))
    assert len(few) == 3
    assert {unit.unit for unit in few} < {unit.unit for unit in units}


def test_every_altered_call_decodes_the_same_two_files(media: Path, tmp_path: Path, task: Any) -> None:  # noqa: ANN401, F811
    listed(tmp_path, media, {"c000": filmed(media)})
    exchanges, _ = read(tmp_path, media)
    clip = ClipSource("c000", media / "clip.mp4", "hello")
    factory = CopyFactory(Dataset([clip], {}, exchanges, {}), task, KeyedRandom(None, 1))
    units = filmed_units("c000", exchanges["c000"], 3, (9, 16), 9, KeyedRandom(None, 1))
    for shown in factory.clips(clip, [Call("c000", "original"), Call("c000", "twin"), *units]):
        assert [path.name for path in there(shown.alteration).files] == ["first.mp4", "second.mp4"]
        assert (shown.path.name, shown.sha256) == ("first.mp4", exchanges["c000"].first_sha256)


def test_a_run_shows_the_clip_first_and_then_its_sham(media: Path, tmp_path: Path, ingest: Ingest) -> None:
    folder = write_phase(tmp_path / "input", [media / "clip.mp4"] * 2, probing(exchanges="exchanges.json"))
    listed(folder, media, {f"c00{number}": filmed(media) for number in range(2)})
    # Each answer tells the grey in the mouth at 1.5 s, and elsewhere.
    predict = "frame = clip.frame_at(1.5).astype(float)\n"
    predict += (
        "        return {'warmth': frame[20:40, 45:55].mean() / 255, 'interview': frame[84:88, 70:80].mean() / 255}"
    )
    outcome = ingest(source(predict), input_data=folder)
    for row in outcome.predictions().values():
        assert float(row["warmth"]) > 0.97
    lines = [line for line in outcome.lines("probes.jsonl") if line["kind"] in ("original", "unit")]
    assert {line["unit"] for line in lines} > {None, "mouth"} or {line["unit"] for line in lines} > {None, "span-2"}
    for line in lines:
        follows("probes.jsonl")(line)
        # The brightness of a clip is drawn, and the same in all of these calls.
        (plain,) = (
            one["prediction"] for one in lines if (one["clip_id"], one["kind"]) == (line["clip_id"], "original")
        )
        assert 255 * plain["interview"] == pytest.approx(PLAIN, abs=30)
        higher = 0.3 if line["unit"] in ("mouth", "span-2") else 0.0
        assert line["prediction"]["warmth"] > plain["interview"] + higher - 0.02, line["unit"]
        assert line["prediction"]["warmth"] < plain["interview"] + 2 * higher + 0.02, line["unit"]
        assert line["prediction"]["interview"] == pytest.approx(plain["interview"], abs=0.01)


def test_parts_are_cut_out_where_they_are_at_that_moment_and_nothing_else_changes() -> None:
    slow, eyes = (((0.1, 0.1), (0.3, 0.1), (0.3, 0.5), (0.1, 0.5)), ((0.25, 0.1), (0.6, 0.1), (0.6, 0.5), (0.25, 0.5)))
    far = tuple((x + 0.4, y) for x, y in slow)
    parts = (
        Part("mouth", ((0.1, 0.1), (0.7, 0.1), (0.7, 0.5)), None, keys=((0.0, slow), (2.0, far))),
        Part("eyes", eyes, None),
    )
    first, second = (np.random.default_rng(seed).integers(0, 255, (100, 200, 3), np.uint8) for seed in (1, 2))
    exchange = Exchange(Path(), "", parts, first=Path())
    for taken in ((), ("mouth",), ("eyes",), ("mouth", "eyes")):
        moving = Composite(exchange, taken, None, (100, 200))
        for time_s, left in ((-1.0, 0.1), (0.0, 0.1), (1.0, 0.3), (2.0, 0.5), (9.0, 0.5)):
            inside = np.zeros((100, 200), bool)
            if "mouth" in taken:
                inside[10:51, round(left * 200) : round((left + 0.2) * 200) + 1] = True
            if "eyes" in taken:
                inside[10:51, 50:121] = True
            mixed = moving.mix(first, second, time_s)
            assert np.array_equal(mixed, np.where(inside[..., None], second, first)), (taken, time_s)
