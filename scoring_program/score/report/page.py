"""What every page shares: style, script, the policy that allows only these two, and filters for numbers."""

import base64
import hashlib
import math
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined

from score.visible import in_words, one_line, visible

_FOLDER = Path(__file__).parent
_STYLES = ("base", "scores", "predictions", "explanations", "problems", "provenance", "narrow", "print")
"""Style sheets in the order in which they apply."""


@dataclass(frozen=True)
class PageStyle:
    """Texts that are inserted into a page unchanged."""

    style: str
    script: str
    """Content of the script element: sorting, filtering and the theme; the page works without it."""
    policy: str
    """Content security policy: no network, only pictures inside the page, and only this style and script."""


def look() -> PageStyle:
    """Read style and script of the report."""
    style = "\n" + "".join((_FOLDER / "style" / f"{name}.css").read_text("utf-8") for name in _STYLES)
    return look_of(style, "\n" + (_FOLDER / "script" / "page.js").read_text("utf-8"))


def look_of(style: str, script: str, more: str = "") -> PageStyle:
    """Compute the policy of a page from the hashes of its style and script.

    `script`: empty for a page without one. `more`: further directives of the policy.
    """
    policy = f"default-src 'none'; img-src data:; style-src '{_hash(style)}'"
    policy += f"; script-src '{_hash(script)}'" if script else ""
    return PageStyle(style, script, policy + more)


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


NONE = "–"
"""Shown for a missing number."""
NO_BREAK = "\N{NO-BREAK SPACE}"
"""A space that prevents a line break."""
_ROUND_STEPS = (1, 2, 2.5, 5, 10)


def number(value: float | None, places: int = 2) -> str:
    """Write a number with a true minus sign, zero without a sign, and a dash if unknown or not finite."""
    if value is None or not math.isfinite(value):
        return NONE
    text = f"{value:.{places}f}"
    return text.replace("-", "−") if float(text) else text.lstrip("-")


def signed(value: float | None, places: int) -> str:
    """Write a difference with its sign, except for zero."""
    text = number(value, places)
    return f"+{text}" if text[0].isdigit() and float(text) else text


def factor(value: float | None) -> str:
    """Write a factor with as many decimals (at most five) as two decimals of the total need."""
    text = number(value, 5)
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(share: float | None, places: int = 0) -> str:
    """Write a share as a percentage, without a line break before the sign."""
    text = number(None if share is None else 100 * share, places)
    return text if text == NONE else f"{text}{NO_BREAK}%"


def counted(count: int, whole: int) -> str:
    """Write a count with its share of a total > 0."""
    return f"{count}{NO_BREAK}({percent(count / whole)})"


def interval(ends: tuple[float, float] | None, places: int) -> str:
    """Write an interval; an empty text without one."""
    return f"{number(ends[0], places)} to {number(ends[1], places)}" if ends else ""


def position(value: float, minimum: float, maximum: float) -> float:
    """Return a value's place on a scale as a percentage of its length, two decimals."""
    return round(100 * (value - minimum) / (maximum - minimum), 2)


def ceiling(value: float) -> float:
    """Return the next round number above a value, as the end of a scale."""
    power = 1e-4
    while value > 10 * power:
        power *= 10
    return next(step * power for step in _ROUND_STEPS if value <= step * power or step == _ROUND_STEPS[-1])


def plural(count: int, singular: str, several: str = "") -> str:
    """Count things: ``1 clip``, ``2 clips``."""
    return f"{count} {singular if count == 1 else several or singular + 's'}"


_FILTERS = (
    *(number, signed, factor, percent, counted),
    *(interval, position, in_words, one_line),
)


def render(template: str, page: object, own: Path | None = None) -> str:
    """Render a template, which receives only this object and the page's look.

    `own`: folder with templates of another page that shares the report's look.
    """
    folders = (Path(__file__).parent / "templates", *([own] if own else []))
    return environment(*folders).get_template(template).render(page=page, look=look())


class _CompiledTemplates(FileSystemBytecodeCache):
    """Compiled templates of earlier runs, found by name: each run has its own copy of this program."""

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """Return the key of a template; its content is compared in any case."""
        return super().get_cache_key(name)


# The early page and the report share most templates, so keep them compiled.
@lru_cache(maxsize=4)
def environment(*folders: Path) -> Environment:
    """Return the templates of some folders, with the filters for numbers; all texts are escaped and made harmless."""
    # Escape in all templates, whatever their names: nearly all text comes from participants.
    kept = os.environ.get("COMPILED_TEMPLATES")
    templates = Environment(
        loader=FileSystemLoader(folders),
        bytecode_cache=_CompiledTemplates(kept) if kept else None,
        autoescape=True,
        finalize=_harmless,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update({function.__name__: function for function in _FILTERS})
    templates.tests["finite"] = math.isfinite
    templates.filters["zip"] = zip
    return templates


def _harmless(value: object) -> object:
    """Make hidden characters visible in every text that a template inserts, before escaping.

    Values with ``__html__`` are the templates' own markup and stay as they are.
    """
    return visible(value, len(value)) if isinstance(value, str) and not hasattr(value, "__html__") else value
