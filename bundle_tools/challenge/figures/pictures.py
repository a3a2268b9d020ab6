"""Pictures of pages, embedded as data, because the platform stores no files beside a page's text."""

import base64
import html
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bundle_tools.challenge.figures.marks import FigureError

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "images" / "overview"
"""Where `docs/images/make.py --overview` writes them."""
KINDS = {".webp": "image/webp", ".svg": "image/svg+xml"}
PICTURES = {
    "picture_clip": ("clip.webp", 640, "A frame of a clip: a drawn woman in front of a wall smiles into the camera."),
    "picture_explanation": (
        "explanation.webp",
        640,
        "An explanation says that a smile raised the interview score. With another mouth the prediction falls.",
    ),
    "picture_report": (
        "report.webp",
        800,
        "The first screen of a report: the total with its interval, what to fix first, axes and prediction scores.",
    ),
    "how_it_works": (
        "how_it_works.svg",
        400,
        "You upload a zip. In the first pass the model predicts and explains every clip. In the second pass it "
        "predicts altered copies. Scoring compares the answers with labels and effects, and writes scores and report.",
    ),
}
"""Name of a block -> file, largest width in pixels, and text alternative."""


def picture(file: str, width: int, shows: str) -> Callable[[Any], str]:
    """Return a block with a picture, the same for every phase."""

    def block(_: Any) -> str:  # noqa: ANN401 - a phase
        path = FOLDER / file
        try:
            data = base64.b64encode(path.read_bytes()).decode()
        except OSError as error:
            raise FigureError(f"No picture {path}: {error.strerror}.") from error
        source = f"data:{KINDS[path.suffix]};base64,{data}"
        style = f"width:100%;max-width:{width}px;height:auto"
        return f'<p><img style="{style}" alt="{html.escape(shows)}" src="{source}"></p>'

    return block


BLOCKS = {name: picture(*facts) for name, facts in PICTURES.items()}
"""Name -> function that makes the block."""
