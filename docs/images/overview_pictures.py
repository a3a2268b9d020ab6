"""Take the three pictures of the page *Overview*: a clip, an explanation with what was exchanged, a report.

Called by ``docs/images/make.py --overview``, which runs the example solution first. `bundle pages` puts the pictures
into the page.
"""

import base64
import html
import json
from io import BytesIO
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image

from bundle_tools.programs import use_own_program

FOLDER = Path(__file__).resolve().parent / "pages"
INPUT_DATA = FOLDER.parents[2] / "input_data" / "practice"
CLIP, PART, TIME_S = "c3b5ae5aa3", "mouth", 2.5
"""What is shown: a clip with a smile, the part that is exchanged, and when."""
FIRST_SCREEN = 800
"""Pixels of the report's height that are shown."""
LARGEST = 36_000
"""Bytes of each picture."""
CARD = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; width: 800px; font: 27px/1.3 sans-serif; color: #1a1a1a; background: #fff }}
p {{ margin: 0 0 16px; padding-left: 16px; border-left: 6px solid #2a6fbb }}
div {{ display: flex; gap: 16px }} figure {{ margin: 0; flex: 1 }} img {{ width: 100%; display: block }}
b {{ color: #a33a00 }}
</style><p>“{text}”</p><div>
<figure><img src="{before}">The clip: {first:.2f}</figure>
<figure><img src="{after}">Mouth exchanged: <b>{second:.2f}</b></figure></div>"""
Frame = npt.NDArray[np.uint8]


def take_overview(run: Path, browser: Any, report: Path) -> None:  # noqa: ANN401 - Playwright's browser
    """Write the three pictures.

    `report`: a picture of the first screen of the run's report.
    """
    before, after = _frames()
    save(Image.fromarray(before), "clip.webp", quality=90)
    with Image.open(report) as picture:
        first_screen = picture.convert("RGB").crop((30, 0, picture.width - 30, FIRST_SCREEN))
        size = (800, 800 * first_screen.height // first_screen.width)
        save(first_screen.resize(size, Image.Resampling.LANCZOS), "report.webp", quality=36)
    tab = browser.new_page(viewport={"width": 800, "height": 100})
    tab.set_content(_card(run, before, after))
    with Image.open(BytesIO(tab.screenshot(full_page=True))) as picture:
        save(picture.convert("RGB"), "explanation.webp", quality=72)
    tab.close()


def _card(run: Path, before: Frame, after: Frame) -> str:
    records = run / "ingestion_output"
    explanations, calls = (
        [
            record
            for record in map(json.loads, (records / name).read_text("utf-8").splitlines())
            if record["clip_id"] == CLIP
        ]
        for name in ("explanations.jsonl", "probes.jsonl")
    )
    first = next(call for call in calls if call["kind"] == "original")["prediction"]["interview"]
    second = next(call for call in calls if call["parts"] == [PART])["prediction"]["interview"]
    text = ". ".join(explanations[0]["text"].split(". ")[:2]) + "."
    return CARD.format(
        text=html.escape(text), before=_uri(_face(before)), after=_uri(_face(after)), first=first, second=second
    )


def _frames() -> tuple[Frame, Frame]:
    """Give one frame of the clip, RGB, and the same with the part exchanged."""
    use_own_program("ingestion_program")
    from ingest.data import read_exchanges  # noqa: PLC0415 - the program is known now
    from ingest.media.alteration import ClipSource  # noqa: PLC0415 - as above
    from ingest.media.blend import Blend, Composite, weights_of  # noqa: PLC0415 - as above

    clip = INPUT_DATA / "clips" / f"{CLIP}.mp4"
    exchange = read_exchanges(INPUT_DATA, "exchanges.json", {CLIP: ClipSource(CLIP, clip, "")}, [])[CLIP]
    first, second = _frame(clip), _frame(exchange.path)
    size = first.shape[:2]
    second = Blend(weights_of(exchange.parts, *size)).mix(first, second)
    mixed = Composite(exchange, [PART], None, size).mix(first, second, TIME_S)
    return first[:, :, ::-1].copy(), mixed[:, :, ::-1].copy()


def _frame(path: Path) -> Frame:
    video = cv2.VideoCapture(str(path))
    video.set(cv2.CAP_PROP_POS_MSEC, 1000 * TIME_S)
    _, frame = video.read()
    video.release()
    return np.asarray(frame, np.uint8)


def _face(frame: Frame) -> Frame:
    return frame[160:345, 400:640]


def _uri(frame: Frame) -> str:
    buffer = BytesIO()
    Image.fromarray(frame).save(buffer, "PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def save(picture: Image.Image, name: str, *, quality: int) -> None:
    """Write a picture of a page."""
    path = FOLDER / name
    picture.save(path, "WEBP", quality=quality, method=6)
    if path.stat().st_size > LARGEST:
        raise SystemExit(f"{path}: {path.stat().st_size} bytes, more than {LARGEST}.")
