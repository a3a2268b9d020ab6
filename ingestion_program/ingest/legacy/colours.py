"""In which order a picture of 2017 holds its colours: RGB was asked for, and many came as OpenCV reads them, as BGR."""

import re
from pathlib import Path

import numpy as np

FILE = "metadata.txt"
LONGEST = 64 << 10
LINE = re.compile(r"^\s*pictures\s*[:=]\s*(rgb|bgr)\s*$", re.IGNORECASE | re.MULTILINE)


def stated_order(submission: Path) -> str | None:
    """Return `rgb` or `bgr` where a line of the submission's `metadata.txt` says so, such as `pictures: bgr`."""
    path = submission / FILE
    if path.is_symlink() or not path.is_file():
        return None
    with path.open("rb") as file:
        match = LINE.search(file.read(LONGEST).decode("utf-8", "replace"))
    return match[1].lower() if match else None


def as_rgb(explanation: object, order: str | None) -> object:
    """Return the explanation with red and blue exchanged in its picture where the picture is BGR."""
    image = explanation.get("image") if isinstance(explanation, dict) else None
    if order == "bgr" and isinstance(explanation, dict) and isinstance(image, np.ndarray) and image.shape[2:] == (3,):
        return {**explanation, "image": image[:, :, ::-1]}
    return explanation
