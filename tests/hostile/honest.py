"""The well-behaved model beneath every case; copied into the submission. What it answers follows from the pixels."""

import ctypes
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Escaped(Exception):
    """Something worked that must not work."""


def must_fail(attempt: Callable[[], object]) -> None:
    """Try something that the system has to refuse."""
    try:
        attempt()
    except OSError:
        return
    raise Escaped("what was tried worked")


def kernel(number: int, *arguments: Any) -> int:  # noqa: ANN401
    """Make a system call by its number on x86-64."""
    libc = ctypes.CDLL(None, use_errno=True)
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    result = int(libc.syscall(ctypes.c_long(number), *words))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


class Honest:
    """Misbehaves on the clip that has a transcript, where a case says so, and nowhere else."""

    def __init__(self, assets: Path) -> None:
        self.assets = assets
        # The folders lie as on the platform: program, input_data, output, input/ref beside the submission.
        self.app = assets.parent
        self.in_load()

    def in_load(self) -> None:
        """Do what a case does while it is constructed."""

    def in_predict(self, clip: Any, answer: Any) -> Any:  # noqa: ANN401
        """Return what a case answers on its clip in the place of the honest `answer`."""
        return answer

    def in_explain(self, clip: Any, answer: Any) -> Any:  # noqa: ANN401
        """Return how a case explains its clip in the place of the honest `answer`."""
        return answer

    def predict(self, clip: Any) -> Any:  # noqa: ANN401
        """Return numbers that any touched frame would change."""
        frames = [frame.mean() / 255 for frame in clip.frames(count=3, size=(32, 24))]
        answer = {"warmth": sum(frames) / len(frames), "interview": clip.frame_count / 100}
        return self.in_predict(clip, answer) if clip.transcript else answer

    def explain(self, clip: Any, prediction: dict[str, float]) -> Any:  # noqa: ANN401
        """Return a text and the frame at half a second."""
        image = clip.frame_at(0.2, size=(355, 200)).copy()
        answer = {"text": f"The mean of three frames is {prediction['warmth']:.4f}.", "image": image}
        return self.in_explain(clip, answer) if clip.transcript else answer
