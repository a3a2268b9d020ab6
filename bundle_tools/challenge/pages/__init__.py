"""Pages for organisers and jurors: one self-contained file each."""

import base64
import hashlib
import json
import math
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

_HERE = Path(__file__).parent


def render(templates: Path, name: str, **content: object) -> str:
    """Fill a template with its style and script.

    The page may use only these two and its own content. `base.css` of this package comes before the
    page's own style; `base.html` is the frame that templates extend, `tables.html` has shared parts.

    `name`: name of the template without its ending; `NAME.css` and `NAME.js` are optional. `content`: what the template
    may show; texts are escaped.
    """
    style = _text(_HERE / "base.css") + _text(templates / f"{name}.css")
    policy = f"default-src 'none'; style-src '{_hash(style)}'; img-src data:"
    if script := _text(templates / f"{name}.js"):
        policy += f"; script-src '{_hash(script)}'; media-src blob:"
    environment = Environment(
        loader=FileSystemLoader([templates, _HERE]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = number
    own = {"style": Markup(style), "script": Markup(script), "policy": Markup(policy)}  # noqa: S704 - our own files
    return environment.get_template(f"{name}.html").render(content, **own)


def as_script(content: dict[str, Any]) -> Markup:
    """Write JSON in which no text can end a script element."""
    text = json.dumps(content, ensure_ascii=True)
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)  # noqa: S704 - no letter of HTML is left


def number(value: float, places: int = 2) -> str:
    """Round for display; NaN becomes a dash."""
    return "–" if math.isnan(value) else f"{value:.{places}f}".replace("-", "−")


def _text(path: Path) -> str:
    return path.read_text("utf-8") if path.is_file() else ""


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
