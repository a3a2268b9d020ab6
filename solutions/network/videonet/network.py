"""Run the networks, and keep what they return of a clip."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from .reading import FACE, FRAMES, RATE, WINDOWS, Floats, Pixels, Pose, counted, cut_all, find, letters, loudness, usual

if TYPE_CHECKING:
    from contract import Clip

CUES = ("smile", "gaze", "motion", "posture", "lighting", "framing", "speech_rate", "words")
"""What the network sums up, in the order of its outputs."""
EVENTS = dict(zip(CUES, WINDOWS, strict=False))
"""Cues with a time and a place, and the window in which each is seen."""
TARGETS = ("extraversion", "agreeableness", "conscientiousness", "emotional_stability", "openness", "interview")


@dataclass(frozen=True)
class NetworkOutput:
    """What the network makes of one clip, all of it computed in one run."""

    scores: NDArray[np.float64]
    """Predictions, shape (targets,)."""
    without: NDArray[np.float64]
    """Predictions with one cue as in an average clip, shape (cues, targets)."""
    amounts: Floats
    """How much there is of each cue, in standard deviations from the average, shape (cues,)."""
    maps: tuple[Floats, ...]
    """What each place of a window adds to its cue at each moment, shape (moments, rows, columns)."""
    pose: Pose
    """Where the face is."""
    frame: Pixels
    """The frame in the middle of the clip."""
    duration_s: float
    """Length of the clip."""


class Network:
    """The three ONNX files: two find the face, the third predicts."""

    def __init__(self, folder: Path) -> None:
        """Load the files of a folder."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._runs = {
            name: onnxruntime.InferenceSession(folder / f"{name}.onnx", options, providers=["CPUExecutionProvider"])
            for name in ("place", "pose", "reader")
        }

    def _run(self, name: str, **inputs: NDArray[np.generic]) -> list[Floats]:
        return [np.asarray(output) for output in self._runs[name].run(None, inputs)]

    def read(self, clip: Clip) -> NetworkOutput:
        """Read one clip; a pure function of the clip."""
        frames = list(clip.frames(count=FRAMES))
        pose = find(
            frames,
            lambda picture: self._run("place", picture=picture)[0],
            lambda window: self._run("pose", window=window)[0],
        )
        seen = {name: cut_all(frames, pose, window) for name, window in WINDOWS.items()}
        scores, amounts, *maps = self._run(
            "reader",
            **seen,
            **{f"{name}_usual": usual(pictures) for name, pictures in seen.items()},
            face=usual(cut_all(frames, pose, FACE)),
            pose=np.array((pose.unit / frames[0].shape[0], pose.roll), np.float32),
            loudness=loudness(clip.audio(RATE), clip.duration_s),
            letters=letters(clip.transcript, clip.duration_s),
            words=counted(clip.transcript),
        )
        rows = scores.astype(np.float64)
        cues = len(CUES) + 1
        middle = frames[len(frames) // 2]
        return NetworkOutput(rows[0], rows[1:cues], amounts, tuple(maps), pose, middle, clip.duration_s)
