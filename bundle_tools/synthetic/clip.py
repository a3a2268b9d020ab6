"""A clip: its complete description and its rendering."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bundle_tools.synthetic.drawing.acting import perform
from bundle_tools.synthetic.drawing.room import choose_things
from bundle_tools.synthetic.drawing.scene import Scene, to_yuv
from bundle_tools.synthetic.encode import encode_together
from bundle_tools.synthetic.people.cast import Cast
from bundle_tools.synthetic.people.cues import Cues
from bundle_tools.synthetic.people.labels import LabelRule
from bundle_tools.synthetic.people.script import Script, write_script
from bundle_tools.synthetic.people.voice import RATE, speak
from bundle_tools.synthetic.seeds import stream

if TYPE_CHECKING:
    from bundle_tools.synthetic.drawing.scene import Scene

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
    for place in spec.others:
        things.pop(place, None)
        if place in other:
            things[place] = other[place]
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
