"""Take the three pictures of the page *Explanations*: a good and a bad explanation of a clip, and a cue and a label.

Called by ``docs/images/make.py --explanations``, which runs both examples first. `bundle pages` puts the pictures into
the page.
"""

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from bundle_tools.challenge.build import SEED, TRAINING_CLIPS
from bundle_tools.synthetic.dataset import plan
from docs.images.overview_pictures import FOLDER, save

CLIP = "cc91ef774d"
"""A clip that both examples explain."""
WIDTH = 420
"""Of the window, in pixels: a phone's, so that the cards can be read there."""
LEFT_OUT = ".timeline, .missing, .card > details, .drawn-by-model, .timeline ~ .effects"
SHOW = "selector => document.querySelectorAll(selector).forEach(one => { one.style.display = 'none' })"
OPEN = "document.querySelectorAll('details').forEach(one => { one.open = true })"
CUES = {"smile": "#2a6fbb", "background": "#8a5a00"}
"""A cause of the label, and none, with their colours."""
LOWEST, HIGHEST = 0.2, 0.9
"""Ends of the scale of labels."""
SHARES = 6
"""Parts of equal size, over which the labels are averaged."""
PLOT = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 300" width="400" height="300" font-family="Lato, Helvetica, \
Arial, sans-serif" font-size="16">
  <rect width="400" height="300" fill="#fff"/>
  <path d="M50 20V250H390" fill="none" stroke="#1a1a1a"/>
  <path d="{dots}" stroke="#2a6fbb" stroke-opacity=".3" stroke-width="7" stroke-linecap="round"/>
  {lines}
  <g fill="#1a1a1a" text-anchor="middle">
    <text x="220" y="288">how much of the cue there is</text>
    <text x="78" y="268">none</text><text x="375" y="268">full</text>
    <text x="18" y="135" transform="rotate(-90 18 135)">interview label</text>
    <text x="34" y="256">0.2</text><text x="34" y="26">0.9</text>
  </g>
</svg>
"""


def take_explanations(reports: dict[str, Path], browser: Any) -> None:  # noqa: ANN401 - Playwright's browser
    """Write the three pictures; `reports`: pages by the name of the picture."""
    for name, report in reports.items():
        tab = browser.new_page(viewport={"width": WIDTH, "height": 900}, device_scale_factor=1)
        tab.goto(report.as_uri())
        tab.evaluate(OPEN)
        tab.evaluate(SHOW, LEFT_OUT)
        picture = tab.locator(".card", has_text=CLIP).first.screenshot()
        with Image.open(BytesIO(picture)) as card:
            save(card.convert("RGB"), f"{name}.webp", quality=26)
        tab.close()
    (FOLDER / "cue_and_label.svg").write_text(plot(), "utf-8")


def plot() -> str:
    """Draw the labels of the training clips over a cue, and their means for a cue that causes them and one that not."""
    specs = [member.spec for member in plan("training", clips=TRAINING_CLIPS, seed=SEED)]
    labels = np.array([spec.labels()["interview"] for spec in specs])
    lines, dots = [], ""
    for cue, colour in CUES.items():
        amounts = np.array([getattr(spec.cues, cue) for spec in specs])
        parts = np.array_split(np.argsort(amounts), SHARES)
        means = [_point(float(amounts[part].mean()), float(labels[part].mean())) for part in parts]
        x, y = means[-1].split()
        above = -12 if cue == "smile" else 24
        lines.append(f'<polyline points="{" ".join(means)}" fill="none" stroke="{colour}" stroke-width="4"/>')
        lines.append(f'<text x="{x}" y="{float(y) + above:.0f}" text-anchor="end" fill="{colour}">{cue}</text>')
        dots = dots or "".join(f"M{_point(*pair)}h0" for pair in zip(amounts, labels, strict=True))
    return PLOT.format(dots=dots, lines="\n  ".join(lines))


def _point(amount: float, label: float) -> str:
    return f"{50 + 340 * amount:.0f} {250 - 230 * (label - LOWEST) / (HIGHEST - LOWEST):.0f}"
