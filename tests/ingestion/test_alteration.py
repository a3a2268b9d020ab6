"""What a model is shown in the place of a clip: frames, sound and words."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.data import ClipSource, Footage
from ingest.frame_server import FrameServer
from ingest.probes.alteration import Alteration, frozen
from ingest.probes.draws import Draws
from ingest.probes.edits import changes
from ingest.probes.jitter import Jitter, draw_jitter
from ingest.probes.material import Material
from ingest.probes.painter import Painter
from ingest.probes.plan import Call
from ingest.probes.region import Box, Cells
from ingest.probes.settings import OPERATORS, Operator, ProbeSettings
from ingest.probes.sound import replace_by_room_noise, room_level
from ingest.probes.stage import Stage
from ingest.probes.words import drop_words
from ingest.settings import read_task
from ingest.sound import Sound, read_sound
from ingest.video import FrameReader, FrameRequest, wanted_frames
from tests.ingestion.clips import Format, read_number, write_clip
from tests.ingestion.conftest import write_phase
from tests.ingestion.test_frame_server import Reader
from tests.ingestion.test_second_pass import probing

STILL = Jitter(1.0, 1.0, 0, 0, 0)
RATE = 8000


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four seconds of numbered frames at 25 a second, with sound."""
    return write_clip(tmp_path_factory.mktemp("clip") / "clip.mp4", 100, Format(width=160, height=90))


@pytest.fixture(scope="module")
def plain(clip: Path) -> Alteration:
    return Alteration(Material(clip), STILL, seed=1)


def frames_of(path: Path, alteration: Alteration | None, size: tuple[int, int] = (160, 90)) -> npt.NDArray[np.uint8]:
    """Return twenty frames as a model gets them."""
    material = Material(path)
    wanted = wanted_frames(FrameRequest(count=20), material.facts)
    shape = (size[1], size[0], 3)
    painter = None
    if alteration is not None:
        wanted, painter = alteration.shown(wanted), Painter(alteration, shape)
    frames = np.empty((len(wanted), *shape), np.uint8)
    reader = FrameReader(path, threads=1)
    for index, frame in zip(wanted, frames, strict=True):
        reader.read_into(int(index), frame, painter)
    reader.close()
    return frames


def test_without_jitter_an_original_is_the_clip_itself(clip: Path, plain: Alteration) -> None:
    assert np.array_equal(frames_of(clip, plain), frames_of(clip, None))
    sound, own = plain.sound(RATE), plain.material.sound(RATE)
    assert sound is not None
    assert own is not None
    assert np.array_equal(sound, own)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("size", [(160, 90), (320, 200), (33, 17)])
def test_a_mask_changes_what_it_hides_and_nothing_else(
    clip: Path, plain: Alteration, operator: Operator, size: tuple[int, int]
) -> None:
    region = Cells(9, 16, tuple(range(40, 72)))
    mask = region.mask(size[1], size[0])
    altered = frames_of(clip, replace(plain, region=region, operator=operator), size)
    before = frames_of(clip, None, size)
    assert np.array_equal(altered[:, ~mask], before[:, ~mask])
    assert np.abs(altered[:, mask].astype(int) - before[:, mask]).mean() > 1
    assert not np.array_equal(
        altered, frames_of(clip, replace(plain, region=Cells(9, 16, (0,)), operator=operator), size)
    )


def test_imputation_continues_what_surrounds_a_place_at_its_moment(clip: Path, plain: Alteration) -> None:
    # The frames are upright bars: a thin strip across them is imputed from the same bars above and below.
    # The bars in the left part change from frame to frame; it stays as it is.
    region = Box(0.4, 0.45, 1.0, 0.5)
    mask = region.mask(90, 160)
    altered, before = frames_of(clip, replace(plain, region=region)), frames_of(clip, None)
    assert np.abs(altered[:, mask].astype(int) - before[:, mask]).mean() < 40


def test_every_size_shows_the_same_replacement(clip: Path, plain: Alteration) -> None:
    alteration = replace(plain, region=Box(0.2, 0.2, 0.8, 0.8), operator="median")
    small, large = (frames_of(clip, alteration, size)[3].mean() for size in ((160, 90), (640, 360)))
    assert small == pytest.approx(large, abs=2)


def test_a_mask_over_everything_hides_nothing(clip: Path, plain: Alteration) -> None:
    everywhere = replace(plain, region=Box(0, 0, 1, 1), operator="imputation")
    assert np.array_equal(frames_of(clip, everywhere), frames_of(clip, None))


# 25 frames a second: second 1 is frames 25 to 49; up to 37 the last frame before is as near, then the first after.
def test_frozen_seconds_show_the_nearest_kept_frame() -> None:
    times = np.arange(100) / 25
    assert frozen(times, (1,))[[0, 24, 25, 37, 38, 49, 50, 99]].tolist() == [0, 24, 24, 24, 50, 50, 50, 99]
    assert set(frozen(times, (0, 1)).tolist()) == set(range(50, 100))
    assert frozen(times, (3,))[75:].tolist() == [74] * 25


@given(st.lists(st.floats(0.001, 0.5), min_size=1, max_size=80), st.sets(st.integers(0, 12)))
def test_freezing_keeps_order_and_shows_no_masked_frame(steps: list[float], seconds: set[int]) -> None:
    times = np.cumsum([0.0, *steps])
    shown = frozen(times, tuple(seconds))
    assert (np.diff(shown) >= 0).all()
    masked = np.isin(np.floor(times + 1e-9), list(seconds))
    assert (shown[~masked] == np.flatnonzero(~masked)).all()
    if not masked.all():
        assert not masked[shown].any()


def test_a_frozen_clip_still_has_all_its_frames(clip: Path, plain: Alteration) -> None:
    numbers = [read_number(frame) for frame in frames_of(clip, replace(plain, seconds=(1, 2)))]
    assert len(numbers) == 20
    assert not {*range(25, 75)} & set(numbers)
    still = {read_number(frame) for frame in frames_of(clip, replace(plain, still=True))}
    assert len(still) == 1


def test_jitter_moves_the_picture_in_pixels_of_the_clip(clip: Path, plain: Alteration) -> None:
    before = frames_of(clip, None).astype(int)
    moved = frames_of(clip, replace(plain, jitter=Jitter(1.0, 1.0, 2, -1, 0))).astype(int)
    assert np.array_equal(moved[:, :-1, 2:], before[:, 1:, :-2])
    assert np.array_equal(moved[:, :-1, 0], before[:, 1:, 0])


def test_jitter_of_brightness_loudness_and_time(clip: Path, plain: Alteration) -> None:
    jittered = replace(plain, jitter=Jitter(1.01, 0.99, 0, 0, 1))
    expected = np.clip(np.rint(frames_of(clip, replace(plain, jitter=Jitter(1, 1, 0, 0, 1))) * 1.01), 0, 255)
    assert np.abs(frames_of(clip, jittered) - expected).max() <= 1
    original, quieter = plain.material.sound(RATE), jittered.sound(RATE)
    assert original is not None
    assert quieter is not None
    assert np.allclose(quieter, original * 0.99, atol=1e-6)
    first = read_number(frames_of(clip, jittered)[0])
    assert first == read_number(frames_of(clip, None)[0]) + 1


def test_the_sound_of_a_clip_takes_no_other_path_than_that_of_a_copy(
    clip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Whatever is kept for one of them is there sooner, and a model has a clock.
    decoded: list[Path] = []

    def read(path: Path, rate: int, duration_s: float) -> Sound | None:
        decoded.append(path)
        return read_sound(path, rate, duration_s)

    monkeypatch.setattr("ingest.probes.alteration.read_sound", read)
    monkeypatch.setattr("ingest.probes.material.read_sound", read)
    original = Alteration(Material(clip), STILL, seed=1)
    for shown in (original, replace(original, copy=clip), original, replace(original, copy=clip), original):
        assert shown.sound(RATE) is not None
    assert decoded == [clip] * 5


@given(st.integers(0, 2**63 - 1), st.integers(0, 4), st.integers(0, 3))
def test_jitter_stays_inside_its_bounds(seed: int, pixels: int, frames: int) -> None:
    form = ProbeSettings((0.1,), OPERATORS, 3, 0.01, pixels, frames)
    jitter = draw_jitter(form, Draws(None, seed), "c0", "space")
    assert abs(jitter.brightness - 1) <= 0.01 >= abs(jitter.loudness - 1)
    assert max(abs(jitter.right), abs(jitter.down)) <= pixels
    assert abs(jitter.later) <= frames


def test_a_relit_clip_has_the_mean_that_all_have(tmp_path: Path) -> None:
    dark = write_clip(tmp_path / "dark.mp4", 30, Format(width=160, height=90))
    relit = frames_of(dark, Alteration(Material(dark), STILL, 1, brightness=0.6))
    assert abs(float(relit.mean()) / 255 - 0.6) < abs(float(frames_of(dark, None).mean()) / 255 - 0.6)


def test_a_reframed_clip_shows_its_middle_larger(clip: Path, plain: Alteration) -> None:
    zoomed = frames_of(clip, replace(plain, zoom=1.25))[5].astype(int)
    middle = frames_of(clip, None)[5].astype(int)[9:81, 16:144]
    assert np.abs(zoomed[::5, ::5][:14, :25] - middle[::4, ::4][:14, :25]).mean() < 25


@pytest.mark.parametrize("operator", ["mute", "freeze", "relight", "reframe", "hide_face", "hide_background"])
def test_every_edit_changes_the_clip(operator: str, clip: Path, plain: Alteration) -> None:
    edited = replace(plain, **changes(operator, Box(0.3, 0.2, 0.6, 0.7)))
    seen = np.array_equal(frames_of(clip, edited), frames_of(clip, None))
    heard = np.array_equal(edited.sound(RATE), plain.sound(RATE))  # type: ignore[arg-type]
    assert (seen, heard) == ((True, False) if operator == "mute" else (False, True))


def test_room_noise_is_as_loud_as_the_room() -> None:
    rng = np.random.default_rng(0)
    sound = (0.01 * rng.standard_normal(4 * RATE)).astype(np.float32)
    sound[RATE : 3 * RATE] += 0.5 * np.sin(np.arange(2 * RATE) / 5, dtype=np.float32)
    assert room_level(sound, RATE) == pytest.approx(0.01, rel=0.1)
    replaced = replace_by_room_noise(sound, RATE, (1,), seed=3)
    inner = slice(int(1.02 * RATE), int(1.98 * RATE))
    assert replaced[inner].std() == pytest.approx(0.01, rel=0.1)
    assert np.array_equal(replaced[2 * RATE + 80 :], sound[2 * RATE + 80 :])
    assert np.array_equal(replaced[: RATE - 80], sound[: RATE - 80])
    assert np.array_equal(replaced, replace_by_room_noise(sound, RATE, (1,), seed=3))
    silent = replace_by_room_noise(np.zeros(RATE, np.float32), RATE, None, seed=1)
    assert 0 < np.abs(silent).max() < 1e-3


@given(st.integers(0, 20_000), st.sampled_from([4000, 44_100]), st.none() | st.sets(st.integers(0, 9)))
def test_replacing_sound_keeps_its_length_and_range(length: int, rate: int, seconds: set[int] | None) -> None:
    sound = np.random.default_rng(length).uniform(-1, 1, length).astype(np.float32)
    replaced = replace_by_room_noise(sound, rate, seconds, seed=0)
    assert replaced.dtype == np.float32
    assert len(replaced) == length
    assert np.abs(replaced).max(initial=0) <= 1


# Ten words in five seconds: two a second.
def test_the_words_of_masked_seconds_are_dropped() -> None:
    text = "a b  c d\ne f g h i j"
    assert drop_words(text, (1, 4), 5.0) == "a b  e f g h "
    assert drop_words(text, (), 5.0) == text
    assert drop_words("", (0,), 5.0) == ""


@given(st.text(max_size=80), st.sets(st.integers(0, 5)), st.floats(0.1, 6))
def test_what_is_dropped_and_what_is_kept_are_all_words(text: str, seconds: set[int], duration_s: float) -> None:
    kept, dropped = (drop_words(text, chosen, duration_s) for chosen in (seconds, set(range(6)) - seconds))
    assert sorted(kept.split() + dropped.split()) == sorted(text.split()) or not seconds or len(seconds) == 6


@pytest.fixture
def stage(clip: Path, tmp_path: Path) -> Stage:
    folder = write_phase(tmp_path / "input", [clip] * 2, probing())
    return Stage(Footage([], {}, {}, {}), read_task(folder / "task.yaml"), Draws(None, 1))


def test_an_altered_call_goes_through_the_server_like_any_other(clip: Path, stage: Stage) -> None:
    source = ClipSource("c0", clip, "one two three four")
    calls = [
        Call("c0", "original"),
        Call("c0", "time", "freeze", "top", (0,)),
        Call("c0", "space", "blur", "top", (1, 2)),
        Call("c0", "cue", "no_words", cue="words"),
    ]
    staged = [shown for _, shown in stage.clips(source, calls)]
    server = FrameServer()
    reader = Reader(server)
    try:
        for position, shown in enumerate(staged):
            facts = server.begin(shown, staged[position + 1 :])
            assert facts is Material.facts.fget(shown.alteration.material)  # type: ignore[attr-defined,union-attr]
            numbers = reader.numbers({"count": 10, "size": [160, 90]})
            assert len(numbers) == 10
            assert (min(numbers) >= 25) == (position == 1)
            assert server.sound(RATE) is not None
            assert not server.end(model_lives=True).unreadable
    finally:
        server.close()
    words = [shown.transcript for shown in staged]
    assert words == ["one two three four", "two three four", "one two three four", ""]


def test_a_twin_is_the_very_copy_of_its_original(clip: Path, stage: Stage) -> None:
    source = ClipSource("c0", clip, "")
    calls = [Call("c0", "original"), Call("c0", "twin"), Call("c0", "cue", "mute", cue="voice")]
    original, twin, other = (shown.alteration for _, shown in stage.clips(source, calls))
    assert original is not None
    assert twin is not None
    assert other is not None
    assert (original.jitter, original.seed) == (twin.jitter, twin.seed)
    assert original.jitter != other.jitter


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_imputed_frames_do_not_depend_on_what_they_hide(seed: int, clip: Path) -> None:
    region = Box(0.0, 0.0, 0.5, 1.0)
    alteration = Alteration(Material(clip), STILL, seed, region=region)
    size = (160, 90)
    painter = Painter(alteration, (90, 160, 3))
    frames = [np.full((90, 160, 3), level, np.uint8) for level in (0, 255)]
    for frame in frames:
        painter.finish(3, frame)
    mask = region.mask(size[1], size[0])
    assert np.array_equal(frames[0][mask], frames[1][mask])
