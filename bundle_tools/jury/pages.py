"""Templates of the jury's pages: self-contained, and allowed to ask for nothing from outside."""

import base64
import hashlib
import json
import math
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup

_TEMPLATES = files("bundle_tools.jury") / "templates"


def render(name: str, **content: object) -> str:
    """Fill `templates/NAME.html` with its style and script; a page may run and use these two and nothing else."""
    style, script = (_text(f"{name}.{kind}") for kind in ("css", "js"))
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["number"] = number
    return environment.from_string(_text(f"{name}.html")).render(
        content,
        style=Markup(style),  # noqa: S704 - our own files
        script=Markup(script),  # noqa: S704
        style_hash=_hash(style),
        script_hash=_hash(script),
    )


def as_script(content: dict[str, Any]) -> Markup:
    """Write JSON that ends no script element, whatever the texts in it are."""
    text = (
        json.dumps(content, ensure_ascii=True).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    )
    return Markup(text)  # noqa: S704 - no letter of HTML is left


def number(value: float, places: int = 2) -> str:
    """Round for people; a dash stands for what cannot be said."""
    return "–" if math.isnan(value) else f"{value:.{places}f}".replace("-", "−")


def _text(name: str) -> str:
    path = _TEMPLATES / name
    return path.read_text("utf-8") if path.is_file() else ""


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
