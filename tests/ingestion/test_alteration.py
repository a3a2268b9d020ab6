"""What a model is shown in the place of a clip: frames, sound and words."""

from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.data import Dataset
from ingest.draws import KeyedRandom
from ingest.media.alteration import GRAIN, Alteration, ClipSource, Jitter, Slow, draw_jitter, frozen
from ingest.media.cache import ClipCache
from ingest.media.exchange import Box, Cells, Exchange
from ingest.media.frame_server import FrameServer
from ingest.media.painter import Painter
from ingest.media.sound import HISS, read_sound, replace_by_another_moment
from ingest.media.video import FrameReader, wanted_frames
from ingest.probes.copies import CopyFactory, drop_words
from ingest.probes.edits import OPERATORS as EDITS
from ingest.probes.edits import PACES, ZOOMS
from ingest.probes.plan import Call
from ingest.requests import FrameRequest
from ingest.settings import OPERATORS, JitterRange, Operator, ProbeSettings, Task, read_task
from tests import there
from tests.ingestion.clips import Format, read_number, write_clip
from tests.ingestion.conftest import write_phase
from tests.ingestion.test_frame_server import Reader
from tests.ingestion.test_second_pass import probing

STILL = Jitter(1.0, 1.0, 0, 0, 0)
TASK = cast(Task, SimpleNamespace(probes=ProbeSettings(OPERATORS, 3, JitterRange(0.0, 0, 0))))
RATE = 8000


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four seconds of numbered frames at 25 a second, with sound."""
    return write_clip(tmp_path_factory.mktemp("clip") / "clip.mp4", 100, Format(width=160, height=90))


@pytest.fixture(scope="module")
def plain(clip: Path) -> Alteration:
    return Alteration(ClipCache(clip), STILL, seed=1)


def frames_of(path: Path, alteration: Alteration | None, size: tuple[int, int] = (160, 90)) -> npt.NDArray[np.uint8]:
    """Return twenty frames as a model gets them."""
    material = ClipCache(path)
    asked = wanted_frames(FrameRequest(count=20), material.facts)
    shape = (size[1], size[0], 3)
    wanted, painter = asked, None
    if alteration is not None:
        wanted, painter = alteration.shown(asked), Painter(alteration, shape)
    frames = np.empty((len(wanted), *shape), np.uint8)
    reader = FrameReader(path, threads=1)
    for place, index, frame in zip(asked, wanted, frames, strict=True):
        reader.read_into(int(index), frame, painter, int(place))
    reader.close()
    return frames


def test_without_jitter_an_original_is_the_clip_itself(clip: Path, plain: Alteration) -> None:
    assert np.array_equal(frames_of(clip, plain), frames_of(clip, None))
    sound, own = plain.sound(RATE), read_sound(clip, RATE, plain.facts.duration_s)
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


@given(st.integers(1, 5000), st.floats(0, 1), st.floats(*PACES))
def test_a_slow_clip_shows_a_piece_of_itself_in_order(frames: int, start: float, pace: float) -> None:
    class Frames:
        facts = type("Facts", (), {"times": np.arange(frames) / 25})

    shown = Alteration(Frames(), STILL, 1, slow=Slow(start, pace)).shown(np.arange(frames))  # type: ignore[arg-type]
    assert (np.diff(shown) >= 0).all()
    assert 0 <= shown[0] <= shown[-1] < frames
    assert shown[-1] - shown[0] <= pace * frames + 1


@pytest.mark.parametrize("change", [{"slow": Slow(0.5, 0.05)}, {"seconds": (1, 2)}])
def test_a_frame_that_comes_again_has_other_grain(change: dict[str, object], clip: Path) -> None:
    grainy = Alteration(ClipCache(clip), Jitter(1.0, 1.0, 0, 0, 0, GRAIN), seed=1)
    frames = frames_of(clip, replace(grainy, **change))  # type: ignore[arg-type]
    numbers = [read_number(frame) for frame in frames]
    assert len(set(numbers)) < len(numbers)
    assert all((one != other).any() for one, other in pairwise(frames))


def test_jitter_moves_the_picture_in_pixels_of_the_clip(clip: Path, plain: Alteration) -> None:
    before = frames_of(clip, None).astype(int)
    moved = frames_of(clip, replace(plain, jitter=Jitter(1.0, 1.0, 2, -1, 0))).astype(int)
    assert np.array_equal(moved[:, :-1, 2:], before[:, 1:, :-2])
    assert np.array_equal(moved[:, :-1, 0], before[:, 1:, 0])


def test_jitter_of_brightness_loudness_and_time(clip: Path, plain: Alteration) -> None:
    jittered = replace(plain, jitter=Jitter(1.01, 0.99, 0, 0, 1))
    expected = np.clip(np.rint(frames_of(clip, replace(plain, jitter=Jitter(1, 1, 0, 0, 1))) * 1.01), 0, 255)
    assert np.abs(frames_of(clip, jittered) - expected).max() <= 1
    original, quieter = read_sound(clip, RATE, plain.facts.duration_s), jittered.sound(RATE)
    assert original is not None
    assert quieter is not None
    assert np.allclose(quieter, original * 0.99, atol=1e-6)
    first = read_number(frames_of(clip, jittered)[0])
    assert first == read_number(frames_of(clip, None)[0]) + 1


@given(st.integers(0, 2**63 - 1), st.integers(0, 4), st.integers(0, 3))
def test_jitter_stays_inside_its_bounds(seed: int, pixels: int, frames: int) -> None:
    form = JitterRange(0.01, pixels, frames)
    jitter = draw_jitter(form, KeyedRandom(None, seed), "c0")
    assert abs(jitter.brightness - 1) <= 0.01 >= abs(jitter.loudness - 1)
    assert max(abs(jitter.right), abs(jitter.down)) <= pixels
    assert abs(jitter.later) <= frames


def test_a_relit_clip_comes_nearer_to_the_mean_that_is_asked_for(tmp_path: Path) -> None:
    dark = write_clip(tmp_path / "dark.mp4", 30, Format(width=160, height=90))
    relit = frames_of(dark, Alteration(ClipCache(dark), STILL, 1, brightness=0.6))
    assert abs(float(relit.mean()) / 255 - 0.6) < abs(float(frames_of(dark, None).mean()) / 255 - 0.6)


def test_a_reframed_clip_shows_its_middle_larger(clip: Path, plain: Alteration) -> None:
    zoomed = frames_of(clip, replace(plain, zoom=1.25))[5].astype(int)
    middle = frames_of(clip, None)[5].astype(int)[9:81, 16:144]
    assert np.abs(zoomed[::5, ::5][:14, :25] - middle[::4, ::4][:14, :25]).mean() < 25


@pytest.fixture(scope="module")
def phase(tmp_path_factory: pytest.TempPathFactory) -> list[ClipSource]:
    """Four filmed clips: the second has no sound, the third is short and loud, two have the same words."""
    folder = tmp_path_factory.mktemp("phase")
    forms = [Format(), Format(audio=None), Format(loudness=0.9), Format(loudness=0.1)]
    paths = [write_clip(folder / f"{n}.mp4", 25 if n == 2 else 75, form) for n, form in enumerate(forms)]
    words = ["one two", "one two", "three four", ""]
    return [ClipSource(f"c{n}", path, told) for n, (path, told) in enumerate(zip(paths, words, strict=True))]


def edited(phase: list[ClipSource], clip: ClipSource, cue: str, seed: int = 1) -> ClipSource:
    """Return a clip of a phase without a cue."""
    stage = CopyFactory(Dataset(phase, {}, {}, {"c0": Box(0.3, 0.2, 0.6, 0.7)}), TASK, KeyedRandom(None, seed))
    (shown,) = stage.clips(clip, [Call(clip.clip_id, "cue", EDITS[cue], cue=cue)])
    return shown


def alteration_of(clip: ClipSource) -> Alteration:
    assert clip.alteration is not None
    return clip.alteration


@pytest.mark.parametrize("cue", EDITS)
def test_an_edit_changes_its_cue_and_nothing_else(cue: str, phase: list[ClipSource]) -> None:
    shown = edited(phase, phase[0], cue)
    alteration = replace(alteration_of(shown), jitter=STILL)
    plain = Alteration(ClipCache(phase[0].path), STILL, 1)
    told = shown.transcript == phase[0].transcript
    seen = np.array_equal(frames_of(phase[0].path, alteration), frames_of(phase[0].path, None))
    heard = np.array_equal(alteration.sound(RATE), plain.sound(RATE))  # type: ignore[arg-type]
    assert (told, seen, heard) == (cue != "words", cue in ("words", "voice"), cue != "voice")


def test_words_and_voice_are_those_of_another_clip(phase: list[ClipSource]) -> None:
    for seed in range(12):
        assert edited(phase, phase[0], "words", seed).transcript == "three four"
        assert edited(phase, phase[2], "words", seed).transcript == "one two"
        assert alteration_of(edited(phase, phase[0], "voice", seed)).voice in (phase[2].path, phase[3].path)
        assert alteration_of(edited(phase, phase[1], "voice", seed)).sound(RATE) is None
    heard = there(alteration_of(edited([phase[0], phase[2]], phase[0], "voice")).sound(RATE))
    assert len(heard) == 3 * RATE
    # It is begun again where it is too short: no silence tells that it is another's.
    assert np.abs(heard[2 * RATE :]).max() > 0.5


def test_without_another_clip_nothing_is_lent(phase: list[ClipSource]) -> None:
    for cue in ("words", "voice", "lighting"):
        shown = edited(phase[:1], phase[0], cue)
        alteration = alteration_of(shown)
        assert (shown.transcript, alteration.voice, alteration.brightness) == ("one two", None, None)


def test_no_strength_is_the_same_for_all(phase: list[ClipSource]) -> None:
    many = [alteration_of(edited(phase, phase[0], cue, seed)) for seed in range(20) for cue in ("framing", "motion")]
    zooms, pieces = {one.zoom for one in many if one.zoom > 1}, {one.slow for one in many if one.slow}
    assert len(zooms) == len(pieces) == 20
    assert all(ZOOMS[0] <= zoom <= ZOOMS[1] for zoom in zooms)
    assert all(PACES[0] <= piece.pace <= PACES[1] for piece in pieces)


def test_the_light_of_a_relit_clip_says_nothing_of_its_own(tmp_path: Path) -> None:
    levels = [0.15, 0.25, 0.35, 0.45, 0.55, 0.65]
    clips = [
        ClipSource(f"c{number}", write_clip(tmp_path / f"{number}.mp4", 3, Format(grey=round(255 * level))), "")
        for number, level in enumerate(levels)
    ]
    relit = np.array(
        [[alteration_of(edited(clips, clip, "lighting", seed)).brightness for seed in range(40)] for clip in clips]
    )
    assert relit.min() > 0.1
    assert relit.max() < 0.7
    assert (relit.std(axis=1) > 0.03).all()
    # A dark clip is brought to what the others have, which is brighter, and a bright one the other way.
    assert np.corrcoef(levels, relit.mean(axis=1))[0, 1] < 0
    frames = frames_of(clips[0].path, alteration_of(edited(clips, clips[0], "lighting")))
    assert frames.mean() / 255 == pytest.approx(alteration_of(edited(clips, clips[0], "lighting")).brightness, abs=0.05)


def test_an_edit_does_not_depend_on_the_order_of_the_list(phase: list[ClipSource]) -> None:
    for cue in EDITS:
        one, other = (edited(listed, phase[0], cue) for listed in (phase, phase[::-1]))
        ours, theirs = (replace(alteration_of(shown), cache=None) for shown in (one, other))  # type: ignore[arg-type]
        assert vars(ours) == vars(theirs)
        assert one.transcript == other.transcript


# Each second has a level of its own, so that it is known where it comes from.
@pytest.mark.parametrize("seconds", [(1,), (0, 1), (0, 2), (2, 3), (1, 3), (3, 9)])
def test_in_masked_seconds_the_sound_is_that_of_others(seconds: tuple[int, ...]) -> None:
    levels = np.array([0.1, 0.3, 0.5, 0.7], np.float32)
    sound = np.repeat(levels, RATE)
    heard = set()
    for seed in range(20):
        replaced = replace_by_another_moment(sound, RATE, seconds, seed)
        assert np.array_equal(replaced, replace_by_another_moment(sound, RATE, seconds, seed))
        middles = replaced.reshape(4, RATE)[:, RATE // 50 : -RATE // 50]
        assert (np.ptp(middles, axis=1) < 1e-6).all()
        for second, found in enumerate(middles.mean(axis=1)):
            source = int(np.abs(levels - found).argmin())
            assert (source != second and source not in seconds) if second in seconds else source == second
            heard |= {(second, source)} if second in seconds else set()
    # Which one is drawn, where there is a choice.
    assert len(heard) > len([second for second in seconds if second < 4]) or len(seconds) == 2


def test_no_second_of_the_sound_comes_again(clip: Path) -> None:
    """Compared as a model could, second by second; without a second drawing, hidden ones are replaced by others."""
    own = there(read_sound(clip, RATE, 4.0))
    for seed in range(20):
        altered = Alteration(ClipCache(clip), Jitter(1.0, 1.0, 0, 0, 0, GRAIN), seed, seconds=(1, 2))
        sound = there(altered.sound(RATE))
        seconds = sound[: 4 * RATE].reshape(4, RATE)[:, RATE // 10 : -RATE // 10]  # without the fades
        apart = [np.abs(one - other) for one, other in combinations(seconds, 2)]
        assert min(float(np.mean(difference)) for difference in apart) > 5e-5
        assert min(float(np.max(difference)) for difference in apart) > 1e-4
        noise = there(replace(altered, seconds=()).sound(RATE)) - own
        assert np.abs(noise).max() <= HISS * 1.01
        assert np.array_equal(sound, there(altered.sound(RATE)))
    unaltered = replace(altered, exchange=Exchange(clip, "", ()))
    assert np.array_equal(there(replace(unaltered, seconds=()).sound(RATE)), own)


def test_a_cut_is_no_click() -> None:
    sound = (0.8 * np.sin(np.arange(3 * RATE) * 2 * np.pi / (3 * RATE))).astype(np.float32)
    replaced = replace_by_another_moment(sound, RATE, (1,), seed=1)
    assert np.abs(replaced - sound).max() > 0.5
    assert np.abs(np.diff(replaced)).max() < 0.03


@given(st.integers(0, 20_000), st.sampled_from([4000, 44_100]), st.sets(st.integers(0, 9)))
def test_replacing_sound_keeps_its_length_and_range(length: int, rate: int, seconds: set[int]) -> None:
    sound = np.random.default_rng(length).uniform(-1, 1, length).astype(np.float32)
    replaced = replace_by_another_moment(sound, rate, seconds, seed=0)
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
def stage(clip: Path, tmp_path: Path) -> CopyFactory:
    folder = write_phase(tmp_path / "input", [clip] * 2, probing())
    others = [ClipSource("c1", clip, "five")]
    return CopyFactory(Dataset(others, {}, {}, {}), read_task(folder / "task.yaml"), KeyedRandom(None, 1))


def test_an_altered_call_goes_through_the_server_like_any_other(clip: Path, stage: CopyFactory) -> None:
    source = ClipSource("c0", clip, "one two three four")
    calls = [
        Call("c0", "original"),
        Call("c0", "unit", "freeze", "span-1", seconds=(0,)),
        Call("c0", "unit", "blur", "block-1", cells=(1, 2)),
        Call("c0", "cue", "other_words", cue="words"),
    ]
    staged = list(stage.clips(source, calls))
    server = FrameServer()
    reader = Reader(server)
    try:
        for position, shown in enumerate(staged):
            facts = server.begin(shown)
            assert facts is ClipCache.facts.fget(shown.alteration.cache)  # type: ignore[attr-defined,union-attr]
            numbers = reader.numbers({"count": 10, "size": [160, 90]})
            assert len(numbers) == 10
            assert (min(numbers) >= 24) == (position == 1)  # a frame of jitter
            assert server.sound(RATE) is not None
            assert not server.end().unreadable
    finally:
        server.close()
    words = [shown.transcript for shown in staged]
    assert words == ["one two three four", "two three four", "one two three four", "five"]


def test_all_calls_of_a_clip_share_their_jitter_and_noise(clip: Path, stage: CopyFactory) -> None:
    blurred, lent = Call("c0", "unit", "blur", "block-1", cells=(1,)), Call("c0", "cue", "other_voice", cue="voice")
    calls = [Call("c0", "original"), blurred, lent]
    one, *others = (shown.alteration for shown in stage.clips(ClipSource("c0", clip, ""), calls))
    (foreign,) = (shown.alteration for shown in stage.clips(ClipSource("c1", clip, ""), [Call("c1", "original")]))
    assert one is not None
    assert foreign is not None
    for other in others:
        assert other is not None
        assert (other.jitter, other.seed) == (one.jitter, one.seed)
    assert foreign.jitter != one.jitter
    assert foreign.seed != one.seed


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_imputed_frames_do_not_depend_on_what_they_hide(seed: int, clip: Path) -> None:
    region = Box(0.0, 0.0, 0.5, 1.0)
    alteration = Alteration(ClipCache(clip), STILL, seed, region=region)
    size = (160, 90)
    painter = Painter(alteration, (90, 160, 3))
    frames = [np.full((90, 160, 3), level, np.uint8) for level in (0, 255)]
    for frame in frames:
        painter.finish(3, frame)
    mask = region.mask(size[1], size[0])
    assert np.array_equal(frames[0][mask], frames[1][mask])
