"""Exchanges: parts of a second drawing are seen and heard in place of the clip's own, and nothing else tells of it."""

import hashlib
import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.data import Copy, Dataset, read_exchanges
from ingest.draws import KeyedRandom
from ingest.errors import Problem
from ingest.media import alteration, cache
from ingest.media.alteration import Alteration, ClipSource, Jitter
from ingest.media.cache import ClipCache
from ingest.media.exchange import Exchange, Part
from ingest.media.sound import FADE_S, Sound, exchange, read_sound
from ingest.media.transform import AlteredReader
from ingest.media.video import Frame
from ingest.probes.copies import CopyFactory
from ingest.probes.plan import EXCHANGE, QUIET, Call
from ingest.settings import Task, read_task
from tests import there
from tests.ingestion.clips import Format, write_clip
from tests.ingestion.conftest import Outcome, follows, write_phase
from tests.ingestion.test_probe_plan import GRID
from tests.ingestion.test_second_pass import BLIND, probing, source, write_copies

Ingest = Callable[..., Outcome]
STILL = Jitter(1.0, 1.0, 0, 0, 0)
WIDTH, HEIGHT, FRAMES = 160, 90, 75
RATE = 16_000
WORDS = (0.6, 1.2)
LIGHT = 240
PARTS: list[dict[str, Any]] = [
    {"name": "left", "outline": [[0, 0], [48, 0], [48, 90], [0, 90]], "event_s": [0.2, 1.4]},
    {"name": "right", "outline": [[112, 0], [160, 0], [160, 90], [112, 90]], "event_s": [1.9, 3.0]},
    {"name": "thing-1", "outline": [[64, 0], [96, 0], [96, 40]]},
    {"name": "words", "event_s": [*WORDS], "transcript": "hello you"},
]
MADE = tuple(
    Part(
        part["name"],
        tuple((x / WIDTH, y / HEIGHT) for x, y in part.get("outline", ())),
        tuple(part["event_s"]) if "event_s" in part else None,
        part.get("transcript"),
    )
    for part in PARTS
)
SEEN = MADE[:3]


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
    write_clip(folder / "clip.mp4", FRAMES, Format(width=WIDTH, height=HEIGHT, rate=RATE))
    # Another tone: sound is louder, and both are seen to be of the second.
    write_clip(folder / "second.mp4", FRAMES, Format(width=WIDTH, height=HEIGHT, rate=RATE, grey=LIGHT, loudness=0.25))
    write_flat(folder / "silent.mp4", LIGHT)
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
    (folder / "exchanges.json").write_text(json.dumps({"format_version": 2, "clips": clips}))


def read(folder: Path, media: Path) -> tuple[dict[str, Exchange], list[Problem]]:
    problems: list[Problem] = []
    return read_exchanges(
        folder, "exchanges.json", {"c000": ClipSource("c000", media / "clip.mp4", "")}, problems
    ), problems


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
    "begins after the end": ("exchange_entry", {"parts": [{**PARTS[0], "event_s": [3.1, 4]}]}),
    "never ends": ("exchange_entry", {"parts": [{**PARTS[0], "event_s": [1, float("inf")]}]}),
    "heard at no time": ("exchange_entry", {"parts": [{"name": "words", "transcript": "hello"}]}),
    "words that are no text": ("exchange_entry", {"parts": [{**PARTS[3], "transcript": ["hello"]}]}),
    "a part twice": ("exchange_entry", {"parts": [PARTS[0], PARTS[0]]}),
    "another content": ("clip_changed", {"sha256": "0" * 64}),
    "not there": ("clip_missing", {"file": "exchanges/lost.mp4"}),
    "shorter": ("exchange_differs", {"file": "shorter.mp4"}),
    "narrower": ("exchange_differs", {"file": "narrow.mp4"}),
    "without sound": ("exchange_differs", {"file": "silent.mp4"}),
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


def test_all_problems_are_told_at_once(media: Path, tmp_path: Path) -> None:
    broken = [{"name": "eyes"}, PARTS[0], {**PARTS[1], "event_s": [2, 1]}, PARTS[3]]
    listed(tmp_path, media, {"c9": entry(media), "c000": entry(media, parts=broken, sha256="0" * 64)})
    exchanges, problems = read(tmp_path, media)
    assert not exchanges
    assert [(problem.code, problem.where) for problem in problems] == [
        ("clip_unknown", "exchanges.json, clip c9"),
        ("exchange_entry", "exchanges.json, clip c000, part 1"),
        ("exchange_entry", "exchanges.json, clip c000, part 3"),
        ("clip_changed", "exchanges.json, clip c000"),
    ]
    assert "eyes needs an outline or a transcript" in problems[1].found


def test_without_a_part_that_is_heard_the_second_drawing_needs_no_sound(media: Path, tmp_path: Path) -> None:
    listed(tmp_path, media, {"c000": entry(media, "silent.mp4", parts=PARTS[:3])})
    exchanges, problems = read(tmp_path, media)
    assert not problems
    assert exchanges["c000"].parts == SEEN


def test_a_list_of_the_format_before_says_what_to_do(media: Path, tmp_path: Path) -> None:
    (tmp_path / "exchanges.json").write_text('{"format_version": 1, "clips": {}}')
    (problem,) = read(tmp_path, media)[1]
    assert (problem.code, problem.found) == ("exchanges_unreadable", "format_version 1")
    assert "create the exchanges again" in problem.fix


@pytest.mark.parametrize("text", ["{", "[]", '{"format_version": 3, "clips": {}}', '{"format_version": 2}'])
def test_a_list_of_another_form_is_one_problem(text: str, media: Path, tmp_path: Path) -> None:
    (tmp_path / "exchanges.json").write_text(text)
    assert [problem.code for problem in read(tmp_path, media)[1]] == ["exchanges_unreadable"]


def test_where_and_when_a_part_lies() -> None:
    left, right, thing, words = MADE
    cells = left.in_cells(*GRID).reshape(GRID)
    assert cells.sum() == pytest.approx(1)
    assert (cells > 0).any(axis=0).sum() == pytest.approx(5, abs=1)  # 48 of 160 pixels are 4.8 of 16 columns
    np.testing.assert_allclose(left.in_seconds(3), [0.8 / 1.2, 0.4 / 1.2, 0], atol=1e-9)
    np.testing.assert_allclose(right.in_seconds(3), [0, 0.1 / 1.1, 1.0 / 1.1], atol=1e-9)
    assert not thing.in_seconds(3).any()
    assert not words.in_cells(*GRID).any()
    assert [part.kind for part in MADE] == ["left", "right", "thing", "words"]


def test_a_corner_that_an_outline_repeats_is_kept_once() -> None:
    corners = [tuple(json.loads(text)) for text in ("[0.0, 0.0]", "[0.5, 0.0]", "[0.5, 0.5]", "[0.5, 0.5]")]
    part = Part("thing", tuple(corners), None)
    assert part.outline == tuple(corners)
    assert part.outline[2] is part.outline[3]


def show(media: Path, *exchanged: str, mixed: bool = True, index: int = 40) -> Frame:
    second = Exchange(media / "second.mp4", "", MADE) if mixed else None
    cache = ClipCache(ClipSource("c", media / "clip.mp4", ""))
    out = np.empty((HEIGHT, WIDTH, 3), np.uint8)
    altered = Alteration(cache, STILL, 0, exchange=second, exchanged=exchanged)
    with closing(AlteredReader(altered, threads=1)) as reader:
        reader.read_into(index, out)
    return out


def test_the_second_drawing_is_seen_where_a_part_is_exchanged_and_nowhere_else(media: Path) -> None:
    plain = show(media, mixed=False)
    np.testing.assert_array_equal(show(media), plain)
    for part in SEEN:
        mask = part.mask(HEIGHT, WIDTH).view(np.uint8)
        edge = np.ones((7, 7), np.uint8)  # which is soft
        inside, near = cv2.erode(mask, edge) > 0, cv2.dilate(mask, edge) > 0
        shown = show(media, part.name)
        assert np.abs(shown[inside].astype(int) - LIGHT).max() <= 3
        np.testing.assert_array_equal(shown[~near], plain[~near])
    both = show(media, "left", "thing-1", "words")
    np.testing.assert_array_equal(both[:, 104:], plain[:, 104:])
    np.testing.assert_array_equal(show(media, "words"), plain)


UNITS = {
    "original": Call("c0", "original"),
    "copy": Call("c0", "cue", "copy", cue="smile"),
    "quiet": Call("c0", "unit", EXCHANGE, QUIET, seconds=(2,)),
    "left": Call("c0", "unit", EXCHANGE, "left", ("left",), (1,), (0,)),
    "things": Call("c0", "unit", EXCHANGE, "things", ("thing-1",), (1,)),
    "words": Call("c0", "unit", EXCHANGE, "words", ("words",), (), (0,)),
}


@pytest.fixture(scope="module")
def task(media: Path, tmp_path_factory: pytest.TempPathFactory) -> Task:
    folder = write_phase(tmp_path_factory.mktemp("phase") / "input", [media / "clip.mp4"], probing())
    return read_task(folder / "task.yaml")


@pytest.fixture
def staged(media: Path, task: Task) -> dict[str, ClipSource]:
    """One call of each kind on a clip with an exchange; the rendered copy is the clip itself."""
    clip = ClipSource("c0", media / "clip.mp4", "hello there")
    copies: dict[str, tuple[Copy, ...]] = {"c0": (Copy("smile", clip.path, "hello there", ""),)}
    exchanges = {"c0": Exchange(media / "second.mp4", "", MADE)}
    stage = CopyFactory(Dataset([clip], copies, exchanges, {}), task, KeyedRandom(None, 1))
    return dict(zip(UNITS, stage.clips(clip, UNITS.values()), strict=True))


def heard(clip: ClipSource, rate: int = RATE) -> Sound:
    return there(there(clip.alteration).sound(rate))


def test_words_are_exchanged_in_sound_and_transcript_only_where_they_are_said(
    staged: dict[str, ClipSource], media: Path
) -> None:
    loudness = np.float32(there(staged["original"].alteration).jitter.loudness)
    first, second = (there(read_sound(media / f"{name}.mp4", RATE, 3.0)) * loudness for name in ("clip", "second"))
    start, end, fade = (round(time * RATE) for time in (*WORDS, 2 * FADE_S))
    for name, clip in staged.items():
        sound = heard(clip)
        assert clip.transcript == ("hello you" if name == "words" else "hello there")
        assert sound[:start].tobytes() == first[:start].tobytes()
        assert sound[end:].tobytes() == first[end:].tobytes()
        within, wanted = sound[start:end], second if name == "words" else first
        assert within[fade:-fade].tobytes() == wanted[start:end][fade:-fade].tobytes(), name
    assert np.abs(np.diff(heard(staged["words"]))).max() <= 1.5 * np.abs(np.diff(first)).max()  # no click


@given(st.integers(1, 4 * RATE), st.lists(st.tuples(st.floats(0, 5), st.floats(0, 5)), max_size=3))
def test_no_sound_changes_outside_of_the_spans(length: int, spans: list[tuple[float, float]]) -> None:
    rng = np.random.default_rng(length)
    one, other = rng.uniform(-1, 1, (2, length)).astype(np.float32)
    one[::3] = -0.0
    mixed = exchange(one, other, RATE, spans)
    times = np.arange(length) / RATE
    outside = ~np.any([(start <= times) & (times <= end) for start, end in spans] or [times < 0], axis=0)
    assert mixed.dtype == np.float32
    assert mixed[outside].tobytes() == one[outside].tobytes()
    assert (mixed <= np.maximum(one, other) + 1e-6).all()
    assert (mixed >= np.minimum(one, other) - 1e-6).all()


@pytest.mark.parametrize("first", UNITS)
def test_every_call_decodes_and_mixes_the_same_sounds_whichever_comes_first(
    staged: dict[str, ClipSource], monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    done: list[str] = []

    def read(path: Path, rate: int, duration_s: float) -> Sound | None:
        done.append(path.stem)
        return read_sound(path, rate, duration_s)

    def mix(*arguments: Any) -> Sound:  # noqa: ANN401
        done.append("mixed")
        return exchange(*arguments)

    monkeypatch.setattr(cache, "read_sound", read)
    monkeypatch.setattr(alteration, "exchange", mix)
    heard(staged[first])
    assert done == ["clip", "second", "mixed"]
    for clip in staged.values():
        heard(clip)
    assert done == ["clip", "second"] + ["mixed"] * (1 + len(staged))
    monkeypatch.setattr(cache, "KEPT_SOUND_BYTES", 0)
    for clip in staged.values():
        done.clear()
        heard(clip, 8_000)
        assert done == ["clip", "second", "mixed"]


def test_without_a_part_that_is_heard_no_second_sound_is_decoded(media: Path) -> None:
    seen = Exchange(media / "silent.mp4", "", SEEN)
    one = Alteration(ClipCache(ClipSource("c", media / "clip.mp4", "")), STILL, 0, exchange=seen, exchanged=("left",))
    assert [path.stem for path in one.audible] == ["clip"]
    assert there(one.sound(RATE)).tobytes() == there(read_sound(media / "clip.mp4", RATE, 3.0)).tobytes()


def test_a_run_shows_what_its_record_says(media: Path, tmp_path: Path, ingest: Ingest) -> None:
    clip = media / "clip.mp4"
    folder = write_phase(tmp_path / "input", [clip] * 3, probing(copies="copies.csv", exchanges="exchanges.json"))
    write_copies(folder, clip, 3)
    listed(folder, media, {f"c00{number}": entry(media) for number in range(3)})
    # The bars of a number are darker than the second drawing, whose sound is half as loud.
    predict = "frame, loud = clip.frame_at(1.0), abs(clip.audio(16000)[12000:16000]).max()\n"
    predict += "        other = clip.transcript == 'hello you'; assert other == (loud < 0.4)\n"
    predict += "        return {'warmth': float(other), 'interview': float(frame[:, 6:24].min() > 228)}"
    outcome = ingest(source(predict), input_data=folder)
    lines = [line for line in outcome.lines("probes.jsonl") if not line["again"]]
    for line in lines:
        follows("probes.jsonl")(line)
        if line["kind"] != "twin":
            assert line["prediction"]["interview"] == ("left" in line["parts"]), line
            assert line["prediction"]["warmth"] == ("words" in line["parts"]), line
    assert {line["operator"] for line in lines} == {None, "copy", "exchange"}
    units = [line for line in lines if line["kind"] == "unit" and line["clip_id"] == "c000"]
    assert sorted((line["unit"], line["parts"]) for line in units) == [
        ("left", ["left"]), ("quiet", []), ("right", ["right"]), ("things", ["thing-1"]), ("words", ["words"])
    ]  # fmt: skip


def test_a_broken_list_stops_the_run_and_names_the_clip(media: Path, tmp_path: Path, ingest: Ingest) -> None:
    folder = write_phase(tmp_path / "input", [media / "clip.mp4"], probing(exchanges="exchanges.json"))
    listed(folder, media, {"c000": entry(media, "shorter.mp4")})
    outcome = ingest(source(), input_data=folder)
    assert outcome.json("run.json")["status"] == "organiser_error"
    assert outcome.run_codes() == ["exchange_differs"]
    assert "clip c000" in outcome.printed


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
