"""A speech-like sound without words: a pitched source through moving formants, syllable by syllable."""

import numpy as np
from numpy.typing import NDArray

from bundle_tools.synthetic.people.cast import Cast
from bundle_tools.synthetic.people.script import Script
from bundle_tools.synthetic.seeds import stream

RATE = 24000
"""Samples a second."""

# Centres of the first three formants of a few vowels, Hz.
_VOWELS = (
    (300, 2250, 3000),
    (400, 2000, 2600),
    (600, 1750, 2500),
    (750, 1200, 2500),
    (500, 900, 2400),
    (350, 800, 2300),
)
_BANDWIDTHS = (90.0, 130.0, 200.0)
_CONTROL_S = 0.02
"""Seconds between two positions of the mouth."""


def envelope(script: Script, times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how loud the voice is at each time, in [0, 1]: one raised cosine a syllable."""
    level = np.zeros_like(times)
    for onset in script.onsets:
        first, last = np.searchsorted(times, (onset, onset + script.length_s))
        phase = (times[first:last] - onset) / script.length_s
        level[first:last] = np.maximum(level[first:last], np.sin(np.pi * phase) ** 0.8)
    return level


def speak(seed: int, cast: Cast, script: Script, duration_s: float) -> NDArray[np.float32]:
    """Return the sound of a clip, mono, in [-1, 1], ``RATE`` samples a second."""
    random = stream(seed, "voice")
    times = np.arange(round(duration_s * RATE)) / RATE
    wander = np.interp(times, np.linspace(0, duration_s, 9), random.normal(0, 0.06, 9))
    pitch = cast.pitch_hz * (1 + wander - 0.02 * times)
    phase = 2 * np.pi * np.cumsum(pitch) / RATE
    coarse = np.linspace(0, duration_s, 26)
    vowels = np.array(_VOWELS, dtype=float)
    formants = cast.tract * vowels[random.integers(len(_VOWELS), size=26)]
    control = np.linspace(0, duration_s, round(duration_s / _CONTROL_S) + 1)
    tracks = [np.interp(control, coarse, formants[:, i]) for i in range(3)]
    for one in script.adjectives:  # a word sounds the same whenever it is said
        first, second = cast.tract * vowels[stream(0, one.word).integers(len(_VOWELS), size=2)]
        said = (control >= one.start_s) & (control < one.end_s)
        for i in range(3):
            tracks[i][said] = np.where(control[said] < one.middle_s, first[i], second[i])
    voiced = np.zeros_like(times)
    for harmonic in range(1, int(3600 / cast.pitch_hz)):
        frequency = harmonic * cast.pitch_hz
        gain = sum(
            1 / (1 + ((frequency - track) / width) ** 2) for track, width in zip(tracks, _BANDWIDTHS, strict=True)
        )
        voiced += np.interp(times, control, gain / harmonic**0.6) * np.sin(harmonic * phase)
    level = envelope(script, times)
    breath = random.normal(0, 1, times.size)
    attack = np.clip(np.gradient(level, times) / 40, 0, 1)
    sound = level * voiced / np.abs(voiced).max() + 0.05 * attack * breath + 0.001 * breath
    return np.asarray(0.5 * sound / np.abs(sound).max(), np.float32)
