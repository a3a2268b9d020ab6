"""The person's movements, frame by frame: cues become tracks of pose parameters."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bundle_tools.synthetic.people.cues import NEUTRAL, Cues
from bundle_tools.synthetic.people.script import Script
from bundle_tools.synthetic.people.voice import envelope
from bundle_tools.synthetic.seeds import stream

Track = NDArray[np.float64]
"""One number per frame, shape (frames,)."""

EVENTS = ("smile", "gaze", "motion")
"""Cues with an event, each in its own second: a smile or a sad mouth, wide open eyes or a glance aside, a gesture."""
_SPELL_S = 1.6
"""Duration of each event, most of which lies in its second."""
_OFF_S = 0.1
"""Largest distance of its middle from the middle of its second."""
_RAMP_S = 0.3
_GLANCE_RAMP_S = 0.12
_LEAST_RAISED = 0.4
"""The lowest gesture. It can always be seen: what cannot has neither place nor time."""
_WIDE = 0.45
"""How far wide open eyes exceed open ones."""


@dataclass(frozen=True)
class Performance:
    """Pose of every frame; lengths in units of half the face's width."""

    times: Track
    """Time of each frame, seconds."""
    head_x: Track
    """Sideways offset of the head."""
    head_y: Track
    """Downward offset of the head."""
    roll: Track
    """Tilt of the head, degrees."""
    turn: Track
    """How far the features shift over the face, -0.1 to 0.1."""
    smile: Track
    """-1 corners down, 1 broad smile."""
    gaze_x: Track
    """Sideways offset of the iris, -1 to 1."""
    gaze_y: Track
    """Downward offset of the iris, -1 to 1."""
    eyelids: Track
    """1 open, 0 closed, above 1 wide open."""
    jaw: Track
    """0 closed, 1 wide open: follows the voice."""
    breath: Track
    """Downward offset of the shoulders."""
    shoulders: float
    """Tilt of the shoulders, degrees."""
    slump: float
    """How far the head sinks between the shoulders, 0-0.35."""
    hand: Track
    """0 below the picture, 1 raised."""
    wave: Track
    """Swing of the raised hand, -1 to 1."""


def perform(seed: int, cues: Cues, script: Script, *, frames: int, fps: float) -> Performance:
    """Return the tracks of a clip; each part has its own random stream."""
    times: Track = (np.arange(frames, dtype=np.float64) + 0.5) / fps
    duration = frames / fps
    sway = stream(seed, "sway")
    slouch = 1 - cues.posture
    side = float(stream(seed, "side").choice((-1.0, 1.0)))
    idle_x, idle_y, idle_roll, idle_turn = (
        a * np.sin(2 * np.pi * (times / p + o)) for a, p, o in zip(
            (0.05, 0.02, 0.8, 0.03), sway.uniform(2.5, 5, 4), sway.uniform(0, 1, 4), strict=True
        )
    )  # fmt: skip
    when = spells(seed, duration)
    gestures = stream(seed, "gestures")
    look = 2 * (cues.gaze - NEUTRAL)
    gaze_x, gaze_y = _glance(seed, times, when["gaze"], max(0.0, -look))
    return Performance(
        times=times,
        head_x=idle_x + 0.06 * side * slouch,
        head_y=idle_y,
        roll=idle_roll + 9.0 * side * slouch,
        turn=idle_turn,
        smile=2 * (cues.smile - NEUTRAL) * _during(times, when["smile"], _RAMP_S),
        gaze_x=gaze_x,
        gaze_y=gaze_y,
        eyelids=_blinks(seed, times, duration) * (1 + _WIDE * max(0.0, look) * _during(times, when["gaze"], _RAMP_S)),
        jaw=envelope(script, times),
        breath=0.02 * np.sin(2 * np.pi * (times / 3.4 + sway.uniform())),
        shoulders=-8.0 * side * slouch,
        slump=0.35 * slouch,
        hand=_during(times, when["motion"], _RAMP_S) * (_LEAST_RAISED + (1 - _LEAST_RAISED) * cues.motion),
        wave=cues.motion * np.sin(2 * np.pi * gestures.uniform(1.3, 1.8) * times + gestures.uniform(0, 6)),
    )


def spells(seed: int, duration_s: float) -> dict[str, tuple[float, float]]:
    """Return begin and end of the event of each cue, seconds; it may begin before the clip or end after it."""
    random = stream(seed, "spells")
    seconds = random.permutation(int(duration_s))[: len(EVENTS)]
    middles = seconds + 0.5 + random.uniform(-_OFF_S, _OFF_S, len(EVENTS))
    return {cue: (float(at) - _SPELL_S / 2, float(at) + _SPELL_S / 2) for cue, at in zip(EVENTS, middles, strict=True)}


def _during(times: Track, when: tuple[float, float], ramp: float) -> Track:
    """Return a track of 0 and 1 with soft edges of `ramp` seconds."""
    start, end = when
    rise = np.clip((times - start) / ramp, 0, 1) * np.clip((end - times) / ramp, 0, 1)
    track: Track = rise * rise * (3 - 2 * rise)
    return track


def _glance(seed: int, times: Track, when: tuple[float, float], averted: float) -> tuple[Track, Track]:
    """Look aside once; how far is the cue."""
    random = stream(seed, "glances")
    away = averted * _during(times, when, _GLANCE_RAMP_S)
    return away * random.choice((-1.0, 1.0)) * random.uniform(0.85, 1.0), away * random.uniform(-0.1, 0.45)


def _blinks(seed: int, times: Track, duration: float) -> Track:
    random = stream(seed, "blinks")
    lids = np.ones_like(times)
    for start in np.arange(random.uniform(0.3, 1.5), duration, 2.1):
        lids = np.minimum(lids, np.clip(np.abs(times - start - random.uniform(0, 0.5)) / 0.09, 0, 1))
    return lids
