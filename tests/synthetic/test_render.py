"""The same description gives the same clip; without a cue only what shows the cue is different."""

import io
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import islice

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from bundle_tools.synthetic import clip, scene
from bundle_tools.synthetic.body import draw_body, draw_hand
from bundle_tools.synthetic.clip import (
    CLIP_BYTES,
    FPS,
    FRAMES,
    ClipSpec,
    Rendering,
    encode,
    encode_together,
    render,
    scene_of,
)
from bundle_tools.synthetic.dataset import plan
from bundle_tools.synthetic.person import CUE_NAMES
from bundle_tools.synthetic.script import speak, write_script
from tests.stills import hold_pictures

MOMENTS = (12, 37, 62, 87, 112)  # the middle of every second: what happens, happens in one of them


@pytest.fixture(scope="module")
def spec() -> ClipSpec:
    """A clip with every cue far from neutral, so that taking one out must show."""
    spec = plan("practice", clips=2, seed=8)[0].spec
    strong = dict.fromkeys(CUE_NAMES, 0.9) | {"words": 1.0, "framing": 0.8}
    return replace(spec, cues=replace(spec.cues, **strong))


@cache
def pictures(spec: ClipSpec) -> NDArray[np.int16]:
    drawn = scene_of(spec)
    return np.array([drawn.draw(index) for index in MOMENTS]).astype(np.int16)


@pytest.fixture(scope="module")
def seen(spec: ClipSpec) -> Iterator[NDArray[np.int16]]:
    """Pictures of the clip with every cue."""
    yield pictures(spec)
    pictures.cache_clear()


@pytest.fixture(scope="module")
def full(spec: ClipSpec) -> Rendering:
    """Sound and words of the clip with every cue."""
    return render(spec)


@pytest.fixture(scope="module")
def data(spec: ClipSpec) -> bytes:
    """The file of the clip with every cue, a still a second."""
    with pytest.MonkeyPatch.context() as patched:
        hold_pictures(patched)
        return encode([render(spec)])[0]


def test_the_same_description_gives_the_same_bytes(spec: ClipSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    for made in (draw_body, draw_hand):  # each time anew
        monkeypatch.setattr(scene, made.__name__, made)
    # The first second; what comes later is drawn and encoded in the same way.
    one, two = (encode([replace(made, frames=islice(made.frames, FPS))]) for made in (render(spec), render(spec)))
    assert one == two


def test_another_seed_gives_another_clip(spec: ClipSpec, seen: NDArray[np.int16]) -> None:
    assert not np.array_equal(seen, pictures(replace(spec, seed=spec.seed + 1)))


def test_a_clip_is_real_video_with_sound_of_a_fixed_size(data: bytes) -> None:
    assert len(data) == CLIP_BYTES
    with av.open(io.BytesIO(data), "r") as container:
        video, audio = container.streams.video[0], container.streams.audio[0]
        assert (video.codec_context.name, audio.codec_context.name) == ("h264", "aac")
        assert (video.width, video.height, float(video.average_rate or 0)) == (640, 360, 25.0)
        assert audio.codec_context.layout.name == "mono"
        times = [frame.time for frame in container.decode(video=0)]
    assert times == [index / FPS for index in range(FRAMES)]
    with av.open(io.BytesIO(data), "r") as container:
        samples = np.concatenate([frame.to_ndarray().ravel() for frame in container.decode(audio=0)])
    assert abs(len(samples) / 24000 - 5) < 0.1
    assert 0.2 < np.abs(samples).max() <= 1


def test_a_clip_that_does_not_fit_is_refused() -> None:
    frames = [np.zeros((540, 640), np.uint8)] * 3
    with pytest.raises(ValueError, match="does not fit into 64 bytes"):
        encode_together([(frames, np.zeros(3000, np.float32))], fps=FPS, rate=24000, size=64)


def test_clips_that_are_encoded_together_have_one_quality() -> None:
    random = np.random.default_rng(1)
    sound = np.zeros(3000, np.float32)
    still = [np.full((540, 640), 100, np.uint8)] * 5
    noisy = [random.integers(0, 255, (540, 640)).astype(np.uint8) for _ in range(5)]
    size = 1_000_000

    def weight(files: list[bytes]) -> list[int]:
        """Return the bytes before the padding."""
        return [len(file.rstrip(b"\0")) for file in files]

    alone = encode_together([(still, sound)], fps=FPS, rate=24000, size=size)
    together = encode_together([(still, sound), (noisy, sound)], fps=FPS, rate=24000, size=size)
    assert [len(file) for file in together] == [size, size]
    tight = weight(together)[1] - 2000
    coarser = encode_together([(still, sound), (noisy, sound)], fps=FPS, rate=24000, size=tight)
    assert weight(alone) == weight(together)[:1]
    assert weight(coarser)[0] <= weight(together)[0]
    assert coarser[0][: weight(coarser)[0]] != alone[0][: weight(coarser)[0]]


@pytest.mark.parametrize("cue", CUE_NAMES)
def test_without_a_cue_the_right_media_change(
    spec: ClipSpec, seen: NDArray[np.int16], full: Rendering, cue: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = spec.without(cue)
    looks = not np.array_equal(seen, pictures(other))
    monkeypatch.setattr(clip, "scene_of", lambda _: None)  # its frames are not asked for
    bare = render(other)
    heard = not np.array_equal(full.sound, bare.sound)
    said = full.transcript != bare.transcript
    # The mouth follows the voice, so a slower voice is also seen.
    expected = {"words": (False, True, True), "speech_rate": (True, True, True)}.get(cue, (True, False, False))
    assert (looks, heard, said) == expected


def test_a_cue_is_local(spec: ClipSpec, seen: NDArray[np.int16]) -> None:
    drawn = scene_of(spec)
    rows, columns = np.mgrid[0:360, 0:640]
    x, y = (columns - drawn.x) / drawn.scale, (rows - drawn.y) / drawn.scale
    head = (np.abs(x) < 1.4) & (np.abs(y) < 1.9)
    for cue, place in (("smile", head), ("gaze", head), ("clothing", y > 0.9)):
        changed = np.abs(pictures(spec.without(cue)) - seen).max(axis=(0, 3)) > 0
        assert changed.any()
        assert not (changed & ~place).any(), cue
    # The room may show through the soft edge of a face, not in its middle.
    middle = (np.abs(x) < 0.6) & (np.abs(y) < 0.6)
    changed = np.abs(pictures(spec.without("background")) - seen).max(axis=(0, 3)) > 0
    assert changed.any()
    assert not (changed & middle).any()


def test_a_smile_shows_less_in_dim_light(spec: ClipSpec) -> None:
    shown = []
    for light in (0.05, 0.95):
        lit = replace(spec, cues=replace(spec.cues, lighting=light))
        shown.append(np.abs(pictures(lit) - pictures(lit.without("smile"))).mean())
    # Gains 0.451 and 1.009 of the same difference.
    assert shown[0] / shown[1] == pytest.approx(0.451 / 1.009, rel=0.1)


def test_lighting_scales_every_pixel(spec: ClipSpec, seen: NDArray[np.int16]) -> None:
    dim = pictures(spec.without("lighting"))
    # Gains at 0.9 and 0.5: (0.42 + 0.62 x 0.5) / (0.42 + 0.62 x 0.9) = 0.73 / 0.978.
    assert dim.mean() / seen.mean() == pytest.approx(0.73 / 0.978, rel=0.01)


def test_the_voice_is_loud_on_syllables_and_still_between(spec: ClipSpec) -> None:
    script = write_script(spec.seed, words=0.5, speech_rate=0.0, duration_s=5)
    sound = speak(spec.seed, spec.cast, script, 5)
    assert np.abs(sound).max() == pytest.approx(0.5)
    times = np.arange(len(sound)) / 24000
    spoken = np.zeros(len(sound), bool)
    for onset in script.onsets:
        spoken |= (times >= onset) & (times < onset + script.length_s)
    assert np.sqrt((sound[spoken] ** 2).mean()) > 20 * np.sqrt((sound[~spoken] ** 2).mean())
