"""Pages for organisers and jurors: one self-contained file each, with the templates and the policy of reports."""

import json
from pathlib import Path
from typing import Any

from markupsafe import Markup

from bundle_tools.programs import use_own_program

_PARTS = Path(__file__).with_name("page_parts")


def render(templates: Path, name: str, **content: object) -> str:
    """Fill a template with its style and script.

    The page may use only these two and its own content. `base.css` of `page_parts` comes before the page's own style;
    `base.html` is the frame that templates extend, `tables.html` has shared parts.

    `name`: name of the template without its ending; `NAME.css` and `NAME.js` are optional. `content`: what the template
    may show; texts are escaped.
    """
    use_own_program("scoring_program")
    from score.report.page import environment, look_of  # noqa: PLC0415 - `score` may be another bundle's, loaded before

    script = _text(templates / f"{name}.js")
    look = look_of(
        _text(_PARTS / "base.css") + _text(templates / f"{name}.css"), script, "; media-src blob:" if script else ""
    )
    own = {part: Markup(text) for part, text in vars(look).items()}  # noqa: S704 - our own files
    return environment(templates, _PARTS).get_template(f"{name}.html").render(content, **own)


def as_script(content: dict[str, Any]) -> Markup:
    """Write JSON in which no text can end a script element."""
    text = json.dumps(content, ensure_ascii=True)
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)  # noqa: S704 - no letter of HTML is left


def _text(path: Path) -> str:
    return path.read_text("utf-8") if path.is_file() else ""
