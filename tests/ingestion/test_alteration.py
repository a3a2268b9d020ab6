"""What a model is shown in the place of a clip: frames, sound and words."""

from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.data import Copy, Dataset
from ingest.draws import KeyedRandom
from ingest.media.alteration import Alteration, ClipSource, Jitter, Levels, draw_jitter
from ingest.media.cache import ClipCache
from ingest.media.exchange import Exchange
from ingest.media.frame_server import FrameServer
from ingest.media.sound import HISS, read_sound, with_hiss
from ingest.media.transform import AlteredReader
from ingest.media.video import FrameReader, read_facts, wanted_frames
from ingest.probes.copies import CopyFactory
from ingest.probes.edits import COPY, DRAW, EDITS, GAIN_SPREAD_DB, POWER_SPREAD, traits_of
from ingest.probes.plan import Call
from ingest.requests import FrameRequest
from ingest.settings import JitterRange, ProbeSettings, Task, read_task
from tests import there
from tests.ingestion.clips import Format, read_number, write_clip
from tests.ingestion.conftest import write_phase
from tests.ingestion.test_frame_server import Reader
from tests.ingestion.test_second_pass import probing

STILL = Jitter(1.0, 1.0, 0, 0, 0)
EVIDENCE = SimpleNamespace(evidence=SimpleNamespace(cues=("smile", *EDITS, "motion")))
TASK = cast(Task, SimpleNamespace(probes=ProbeSettings(3, JitterRange(0.0, 0, 0)), explanation=EVIDENCE))
RATE = 8000


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four seconds of numbered frames at 25 a second, with sound."""
    return write_clip(tmp_path_factory.mktemp("clip") / "clip.mp4", 100, Format(width=160, height=90))


@pytest.fixture(scope="module")
def plain(clip: Path) -> Alteration:
    return Alteration(ClipCache(ClipSource("c", clip, "")), STILL, seed=1)


def frames_of(path: Path, alteration: Alteration | None, size: tuple[int, int] = (160, 90)) -> npt.NDArray[np.uint8]:
    """Return twenty frames as a model gets them."""
    wanted = wanted_frames(FrameRequest(count=20), read_facts(path))
    reader: FrameReader | AlteredReader = FrameReader(path, threads=1)
    if alteration is not None:
        wanted, reader = alteration.shown(wanted), AlteredReader(alteration, threads=1)
    frames = np.empty((len(wanted), size[1], size[0], 3), np.uint8)
    with closing(reader):
        for index, frame in zip(wanted, frames, strict=True):
            reader.read_into(int(index), frame)
    return frames


def test_without_jitter_an_original_is_the_clip_itself(clip: Path, plain: Alteration) -> None:
    assert np.array_equal(frames_of(clip, plain), frames_of(clip, None))
    sound, own = plain.sound(RATE), read_sound(clip, RATE, plain.facts.duration_s)
    assert sound is not None
    assert own is not None
    assert np.array_equal(sound, own)


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


measured = cache(traits_of)


@pytest.fixture(autouse=True)
def _measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.probes.copies.traits_of", measured)


LEVELS = [0.15, 0.25, 0.35, 0.45, 0.55, 0.65]
LOUDNESS = [0.05, 0.1, 0.2, 0.3, 0.6, 0.9]
FACES = {f"c{number}": 0.2 + 0.1 * number for number in range(6)}


@pytest.fixture(scope="module")
def phase(tmp_path_factory: pytest.TempPathFactory) -> list[ClipSource]:
    """Six filmed clips, each brighter, louder and with a larger face than the one before."""
    folder = tmp_path_factory.mktemp("phase")
    forms = [Format(grey=round(255 * grey), loudness=loud) for grey, loud in zip(LEVELS, LOUDNESS, strict=True)]
    return [ClipSource(f"c{n}", write_clip(folder / f"{n}.mp4", 5, form), "one") for n, form in enumerate(forms)]


def levels_of(
    phase: list[ClipSource], clip: ClipSource, cue: str | None = None, seed: int = 1, faces: dict[str, float] = FACES
) -> Levels:
    """Return how a clip of a phase is shown plainly, or without a cue."""
    factory = CopyFactory(Dataset(phase, {}, {}, faces), TASK, KeyedRandom(None, seed))
    call = Call(clip.clip_id, "cue", DRAW, cue=cue) if cue else Call(clip.clip_id, "original")
    (shown,) = factory.clips(clip, [call])
    assert shown.transcript == clip.transcript
    return there(there(shown.alteration).levels)


@pytest.mark.parametrize("cue", EDITS)
@pytest.mark.parametrize("seed", range(3))
def test_an_edit_is_another_draw_of_its_cue_and_of_nothing_else(cue: str, seed: int, phase: list[ClipSource]) -> None:
    plain, edited = levels_of(phase, phase[2], seed=seed), levels_of(phase, phase[2], cue, seed)
    assert {name for name in vars(plain) if vars(plain)[name] != vars(edited)[name]} == {EDITS[cue].field}
    assert edited == levels_of(phase[::-1], phase[2], cue, seed)  # whatever the order of the list


def test_every_call_goes_through_the_same_curve_enlargement_and_gain(phase: list[ClipSource]) -> None:
    drawn = [levels_of(phase, clip, cue, seed) for clip in phase[:3] for cue in (None, *EDITS) for seed in range(8)]
    for levels in drawn:
        assert 1.05 <= levels.zoom <= 1.5
        assert levels.power != 1 != levels.gain
    for clip in phase:
        plain = [levels_of(phase, clip, seed=seed) for seed in range(20)]
        assert len(set(plain)) == 20
        assert all(abs(np.log(levels.power)) <= POWER_SPREAD for levels in plain)
        assert all(abs(20 * np.log10(levels.gain)) <= GAIN_SPREAD_DB or clip is phase[-1] for levels in plain)
        assert all(1.05 <= levels.zoom <= 1.2 for levels in plain)


def shown_as(cue: str, clip: ClipSource, levels: Levels) -> float:
    """Return the mean brightness of a grey clip, or the level of its sound, as a model gets it."""
    own = measured(clip, FACES[clip.clip_id])
    return own.mean**levels.power if cue == "lighting" else own.rms * levels.gain


@pytest.mark.parametrize("cue", ["lighting", "voice"])
def test_over_the_draws_a_cue_says_nothing_of_the_clip(cue: str, phase: list[ClipSource]) -> None:
    own, plain, edited = np.zeros((3, 6, 24))
    for number, clip in enumerate(phase):
        for seed in range(24):
            own[number, seed] = shown_as(cue, clip, Levels())
            plain[number, seed] = shown_as(cue, clip, levels_of(phase, clip, seed=seed))
            edited[number, seed] = shown_as(cue, clip, levels_of(phase, clip, cue, seed))
    assert np.corrcoef(own.ravel(), plain.ravel())[0, 1] > 0.9
    # What cannot be made louder without clipping keeps something of its own.
    middle = slice(None) if cue == "lighting" else slice(1, 4)
    assert abs(np.corrcoef(own[middle].ravel(), edited[middle].ravel())[0, 1]) < 0.45
    assert plain.min() * 0.8 < edited.min() <= edited.max() < plain.max() * 1.25


def test_a_face_gets_the_size_of_another_as_far_as_it_can_be_enlarged(phase: list[ClipSource]) -> None:
    two = phase[:2]
    for faces, plain, edited in (((0.4, 0.5), 1.125, 1.40625), ((0.5, 0.4), 1.125, 1.05), ((0.2, 0.8), 1.125, 1.5)):
        known = dict(zip(("c0", "c1"), faces, strict=True))
        drawn = [levels_of(two, two[0], cue, seed, known).zoom for seed in range(60) for cue in (None, "framing")]
        assert np.mean(drawn[::2]) == pytest.approx(plain, abs=0.02)
        assert np.mean(drawn[1::2]) == pytest.approx(edited, abs=0.02)


def test_a_relit_clip_has_the_mean_of_the_others_whatever_its_contrast(tmp_path: Path) -> None:
    bars = ClipSource("c0", write_clip(tmp_path / "bars.mp4", 1, Format(first=0b1110101011)), "")
    grey = ClipSource("c1", write_clip(tmp_path / "grey.mp4", 1, Format(grey=120)), "")
    levels = [replace(levels_of([bars, grey], bars, "lighting", seed), zoom=1.0) for seed in range(40)]
    means = [frames_of(bars.path, Alteration(ClipCache(bars), STILL, 1, levels=one)).mean() for one in levels]
    assert frames_of(bars.path, None).mean() > 140
    assert np.mean(means) == pytest.approx(frames_of(grey.path, None).mean(), abs=4)


def test_sound_is_made_louder_and_never_clipped(phase: list[ClipSource]) -> None:
    for clip in phase:
        for seed in range(6):
            levels = levels_of(phase, clip, "voice", seed)
            own = there(read_sound(clip.path, RATE, 0.2))
            sound = there(Alteration(ClipCache(clip), STILL, 1, levels=levels).sound(RATE))
            assert np.abs(sound - own * levels.gain).max() <= HISS * 1.01
            assert np.abs(own).max() * levels.gain <= 1 + 1e-6


def test_noise_hides_the_steps_of_a_gain(phase: list[ClipSource]) -> None:
    silent = np.zeros(RATE, np.float32)
    assert len(np.unique(with_hiss(silent, 1))) > RATE // 2
    assert np.array_equal(with_hiss(silent, 1), with_hiss(silent, 1))


def test_an_enlarged_clip_shows_its_middle(clip: Path, plain: Alteration) -> None:
    zoomed = frames_of(clip, replace(plain, levels=Levels(zoom=1.25)))[5].astype(int)
    middle = frames_of(clip, None)[5].astype(int)[9:81, 16:144]
    assert np.abs(zoomed[::5, ::5][:14, :25] - middle[::4, ::4][:14, :25]).mean() < 25


def test_an_edit_needs_its_trait_in_two_clips(phase: list[ClipSource], tmp_path: Path) -> None:
    black = ClipSource("b", write_clip(tmp_path / "b.mp4", 5, Format(grey=0, audio=None)), "")
    quiet = ClipSource("q", write_clip(tmp_path / "q.mp4", 5, Format(grey=120, loudness=0)), "")
    broken = ClipSource("x", tmp_path / "none.mp4", "")
    one_face = {"c0": 0.5, "b": 0.5}

    def cues(clips: list[ClipSource], clip: ClipSource, **copies: tuple[Copy, ...]) -> set[tuple[str, str]]:
        edits = CopyFactory(Dataset(clips, copies, {}, one_face), TASK, KeyedRandom(None, 1)).edits(clip)
        return {(edit.cue, edit.operator) for edit in edits}

    assert cues(phase, phase[0]) == {("lighting", DRAW), ("voice", DRAW)}
    assert cues([*phase, black], phase[0]) == {(cue, DRAW) for cue in EDITS}
    assert cues([*phase, black], black) == {("framing", DRAW)}
    assert cues([*phase, quiet], quiet) == {("lighting", DRAW)}
    assert cues([phase[0], broken], phase[0]) == cues([phase[0], broken], broken) == cues(phase[:1], phase[0]) == set()
    copies = (Copy("smile", Path("x"), "", ""), Copy("gaze", Path("x"), "", ""))
    assert cues(phase, phase[0], c0=copies) == {("smile", COPY), ("gaze", COPY)}


def test_what_cannot_be_tested_is_known_before_a_model_runs(phase: list[ClipSource]) -> None:
    exchanges = {"c1": Exchange(Path("x"), "", ())}
    copies: dict[str, tuple[Copy, ...]] = {"c0": (Copy("smile", Path("x"), "", ""),)}

    def untested(task: Task, clips: list[ClipSource]) -> dict[str, list[str]]:
        return CopyFactory(Dataset(clips, copies, exchanges, {}), task, KeyedRandom(None, 1)).untested()

    assert untested(TASK, phase[2::-1]) == {"exchanges": ["c0", "c2"], "edits": []}
    assert untested(TASK, phase[1:2]) == {"exchanges": [], "edits": ["c1"]}
    none = SimpleNamespace(probes=ProbeSettings(0, JitterRange(0.0, 0, 0)), explanation=EVIDENCE)
    assert untested(cast(Task, none), phase[:2])["edits"] == ["c0", "c1"]


def test_clips_with_rendered_copies_are_shown_as_they_are(phase: list[ClipSource]) -> None:
    copies: dict[str, tuple[Copy, ...]] = {"c0": (Copy("smile", phase[1].path, "", ""),)}
    factory = CopyFactory(Dataset(phase, copies, {}, {}), TASK, KeyedRandom(None, 1))
    calls = [Call("c0", "original"), Call("c0", "cue", COPY, cue="smile")]
    assert [there(shown.alteration).levels for shown in factory.clips(phase[0], calls)] == [None, None]


def test_a_clip_that_cannot_be_measured_is_shown_by_draws_all_the_same(tmp_path: Path) -> None:
    black = ClipSource("b", write_clip(tmp_path / "b.mp4", 5, Format(grey=0, audio=None)), "")
    for cue in (None, *EDITS):
        levels = levels_of([black], black, cue)
        assert 1.05 <= levels.zoom <= 1.2
        assert abs(np.log(levels.power)) <= POWER_SPREAD


@pytest.fixture
def stage(clip: Path, tmp_path: Path) -> CopyFactory:
    folder = write_phase(tmp_path / "input", [clip] * 2, probing())
    others = [ClipSource("c1", clip, "five")]
    return CopyFactory(Dataset(others, {}, {}, {}), read_task(folder / "task.yaml"), KeyedRandom(None, 1))


def test_an_altered_call_goes_through_the_server_like_any_other(clip: Path, stage: CopyFactory) -> None:
    source = ClipSource("c0", clip, "one two three four")
    calls = [
        Call("c0", "original"),
        Call("c0", "cue", DRAW, cue="lighting"),
        Call("c0", "cue", DRAW, cue="voice"),
    ]
    staged = list(stage.clips(source, calls))
    server = FrameServer()
    reader = Reader(server)
    try:
        for shown in staged:
            facts = server.begin(shown)
            assert facts is ClipCache.facts.fget(shown.alteration.cache)  # type: ignore[attr-defined,union-attr]
            assert len(reader.numbers({"count": 10, "size": [160, 90]})) == 10
            assert server.sound(RATE) is not None
            assert not server.end().faults
    finally:
        server.close()
    assert {shown.transcript for shown in staged} == {"one two three four"}


def test_all_calls_of_a_clip_share_their_jitter_and_noise(clip: Path, stage: CopyFactory) -> None:
    calls = [Call("c0", "original"), Call("c0", "cue", DRAW, cue="lighting"), Call("c0", "cue", DRAW, cue="voice")]
    one, *others = (shown.alteration for shown in stage.clips(ClipSource("c0", clip, ""), calls))
    (foreign,) = (shown.alteration for shown in stage.clips(ClipSource("c1", clip, ""), [Call("c1", "original")]))
    assert one is not None
    assert foreign is not None
    for other in others:
        assert other is not None
        assert (other.jitter, other.seed) == (one.jitter, one.seed)
    assert foreign.jitter != one.jitter
    assert foreign.seed != one.seed
