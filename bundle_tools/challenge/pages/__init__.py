"""Pages for organisers and jurors: one file each, allowed to ask for nothing from outside."""

import base64
import hashlib
import json
import math
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup


def render(package: str, name: str, **content: object) -> str:
    """Fill `templates/NAME.html` of a package with its style and script.

    The page may use these two and nothing else. `base.css` of this package comes before the page's own style.

    Parameters
    ----------
    package
        The package that holds the folder `templates`.
    name
        Name of the template without its ending; `NAME.css` and `NAME.js` are optional.
    content
        What the template may show; texts are escaped.
    """
    templates = files(package) / "templates"

    def text(ending: str) -> str:
        path = templates / f"{name}.{ending}"
        return path.read_text("utf-8") if path.is_file() else ""

    style = (files("bundle_tools.challenge.pages") / "base.css").read_text("utf-8") + text("css")
    script = text("js")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["number"] = number
    return environment.from_string(text("html")).render(
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


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
