"""Draw, encode and mask a clip."""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import av
import numpy as np
from numpy.typing import NDArray

from bundle_tools.synthetic.body import perform
from bundle_tools.synthetic.canvas import choose_things
from bundle_tools.synthetic.person import Cast, Cues, LabelRule, stream
from bundle_tools.synthetic.scene import Scene, to_yuv
from bundle_tools.synthetic.script import RATE, Script, speak, write_script

if TYPE_CHECKING:
    from bundle_tools.synthetic.scene import Scene


Clip = tuple[Sequence[NDArray[np.uint8]], NDArray[np.float32]]
"""Pictures in planar YUV 4:2:0 as OpenCV makes them, each (height * 3 / 2, width), and mono samples in [-1, 1]."""

CLIP_BYTES = 112 * 1024
"""Size of every clip's file. A file's size would reveal how much moves, so all are padded to one size."""

_QUALITIES = (25, 28, 30, 33, 36, 40)
"""Constant rate factors to try until all clips fit."""


def encode_together(clips: Sequence[Clip], *, fps: int, rate: int, size: int = CLIP_BYTES) -> list[bytes]:
    """Return MP4 files (H.264, AAC) of exactly `size` bytes each, all with the best quality at which every clip fits.

    `size`: size of a file, bytes. Raises ValueError if a clip does not fit even at the lowest quality.
    """
    for quality in _QUALITIES:
        files: list[bytes] = []
        for frames, sound in clips:
            data = _encode(frames, sound, fps, rate, quality)
            if len(data) + 8 > size:
                break
            padding = size - len(data)  # a `free` box (ISO/IEC 14496-12), which players skip
            files.append(data + padding.to_bytes(4, "big") + b"free" + bytes(padding - 8))
        else:
            return files
    raise ValueError(
        f"clip of {len(data)} bytes does not fit into {size} bytes at quality {quality}: allow a larger size"
    )


def _encode(
    frames: Sequence[NDArray[np.uint8]], sound: NDArray[np.float32], fps: int, rate: int, quality: int
) -> bytes:
    target = io.BytesIO()
    # bitexact leaves out the time of writing and the writer's version.
    with av.open(target, "w", format="mp4", options={"fflags": "+bitexact"}) as container:
        options = {"crf": str(quality), "preset": "veryfast", "g": "50", "threads": "1", "flags": "+bitexact"}
        video = container.add_stream("libx264", rate=fps, options=options)
        video.height, video.width = frames[0].shape[0] * 2 // 3, frames[0].shape[1]
        video.pix_fmt = "yuv420p"
        video.time_base = Fraction(1, fps)
        audio = container.add_stream("aac", rate=rate, layout="mono", options={"flags": "+bitexact"})
        audio.bit_rate = 32000
        for index, picture in enumerate(frames):
            frame = av.VideoFrame.from_ndarray(picture, format="yuv420p")
            frame.pts = index
            container.mux(video.encode(frame))
        container.mux(video.encode())
        wave = av.AudioFrame.from_ndarray(sound.reshape(1, -1), format="fltp", layout="mono")
        wave.sample_rate, wave.pts = rate, 0
        fifo = av.AudioFifo()
        fifo.write(wave)
        while (block := fifo.read(1024, partial=True)) is not None:
            container.mux(audio.encode(block))
        container.mux(audio.encode())
    return target.getvalue()


WIDTH, HEIGHT, FPS, DURATION_S = 640, 360, 25, 5
FRAMES = FPS * DURATION_S


@dataclass(frozen=True)
class ClipSpec:
    """The complete description of a clip; it determines pixels, sound, words and labels."""

    seed: int
    """Seed of everything random in the clip, apart from cues and cast."""
    cast: Cast
    """The person and the room."""
    cues: Cues
    rule: LabelRule
    """The phase's rule from cues to labels."""
    others: frozenset[int] = frozenset()
    """Indices of places on the wall whose things come from a second draw."""
    other_words: int | None = None
    """Number of the clause whose adjective is exchanged for its counterpart; None for none."""

    def without(self, cue: str) -> "ClipSpec":
        """Return the same clip with one cue neutral."""
        return replace(self, cues=self.cues.without(cue))

    def labels(self) -> dict[str, float]:
        """Return every target's label in (0, 1)."""
        return self.rule.labels(self.cues, stream(self.seed, "noise"))


@dataclass(frozen=True)
class Rendering:
    """A clip as it is seen and heard."""

    frames: Iterator[NDArray[np.uint8]]
    """Pictures, drawn on demand: each (360, 640, 3), BGR."""
    sound: NDArray[np.float32]
    """Mono samples in [-1, 1], ``voice.RATE`` a second."""
    transcript: str


def script_of(spec: ClipSpec) -> Script:
    """Return what a clip says, and when."""
    cues = spec.cues
    return write_script(
        spec.seed, words=cues.words, speech_rate=cues.speech_rate, duration_s=DURATION_S, other=spec.other_words
    )


def scene_of(spec: ClipSpec) -> "Scene":
    """Return the scene that draws a clip's frames."""
    things = choose_things(spec.cues.background, stream(spec.seed, "room"))
    random = stream(spec.seed, "other room")
    other = choose_things(random.uniform(), random)
    for slot in spec.others:
        things.pop(slot, None)
        if slot in other:
            things[slot] = other[slot]
    performance = perform(spec.seed, spec.cues, script_of(spec), frames=FRAMES, fps=FPS)
    return Scene(spec.seed, spec.cast, spec.cues, performance, things)


def render(spec: ClipSpec) -> Rendering:
    """Render a clip's pictures, sound and words."""
    scene, script = scene_of(spec), script_of(spec)
    return Rendering(
        frames=(scene.draw(index) for index in range(FRAMES)),
        sound=speak(spec.seed, spec.cast, script, DURATION_S),
        transcript=script.text,
    )


def encode(renderings: Sequence[Rendering]) -> list[bytes]:
    """Return the MP4 files of renderings, all with the same quality, so that they differ only in what was drawn."""
    clips = [([to_yuv(frame) for frame in rendering.frames], rendering.sound) for rendering in renderings]
    return encode_together(clips, fps=FPS, rate=RATE)


ROWS, COLUMNS = 9, 16
"""The grid of spatial evidence."""
PLACED = ("smile", "gaze", "motion")
"""Causal cues with a place and a time. A change of posture, light or framing moves the whole picture."""

PICTURES_PER_S = 5
"""Frames that are compared in each second."""
LEVELS = 5
"""A pixel differs if one of its colours differs by at least this much, of 255."""
LEAST_SHARE = 0.015
"""A cell differs in a frame when at least this share of its pixels does ..."""
RELATIVE_SHARE = 0.2
"""... and at least this share of the most different cell's: the faint rim of a change does not count."""
MOMENTS = 3
"""A cell is occupied in a second when it differs in at least this many of the frames compared."""


def occupied(spec: ClipSpec, cues: Sequence[str] = PLACED) -> dict[str, NDArray[np.bool_]]:
    """Return the cells that show each cue, shape (seconds, rows, columns).

    Both drawings share seed and grain, so all differences are due to the cue.

    `cues`: names of cues; one at its neutral intensity occupies nothing.
    """
    step = FPS // PICTURES_PER_S
    moments = range(step // 2, FPS * DURATION_S, step)
    scene, bare = scene_of(spec), {cue: scene_of(spec.without(cue)) for cue in cues}
    shares: dict[str, list[NDArray[np.float64]]] = {cue: [] for cue in cues}
    for index in moments:
        seen = scene.draw(index)
        for cue, other in bare.items():
            shares[cue].append(_shares(seen, other.draw(index)))
    return {cue: _cells(np.array(cells)) for cue, cells in shares.items()}


def _shares(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return the share of pixels that differ in each cell, shape (rows, columns)."""
    differs = (np.maximum(one, other) - np.minimum(one, other) >= LEVELS).any(axis=-1)
    height, width = differs.shape
    shares: NDArray[np.float64] = differs.reshape(ROWS, height // ROWS, COLUMNS, width // COLUMNS).mean(axis=(1, 3))
    return shares


def _cells(shares: NDArray[np.float64]) -> NDArray[np.bool_]:
    differs = shares >= max(LEAST_SHARE, RELATIVE_SHARE * float(shares.max()))
    cells: NDArray[np.bool_] = differs.reshape(-1, PICTURES_PER_S, ROWS, COLUMNS).sum(axis=1) >= MOMENTS
    return cells
