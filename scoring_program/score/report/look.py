"""Style, script, and a policy that allows only these two, for every page."""

import base64
import hashlib
from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).parent
_STYLES = ("base", "scores", "predictions", "explanations", "problems", "provenance", "narrow", "print")
"""Style sheets in the order in which they apply."""


@dataclass(frozen=True)
class Look:
    """Texts that are inserted into a page unchanged."""

    style: str
    script: str
    """Content of the script element: sorting, filtering and the theme; the page works without it."""
    policy: str
    """Content security policy: no network, only pictures inside the page, and only this style and script."""


def look() -> Look:
    """Read style and script of the report."""
    style = "\n" + "".join((_FOLDER / "style" / f"{name}.css").read_text("utf-8") for name in _STYLES)
    return look_of(style, "\n" + (_FOLDER / "script" / "page.js").read_text("utf-8"))


def look_of(style: str, script: str, more: str = "") -> Look:
    """Compute the policy of a page from the hashes of its style and script.

    `script`: empty for a page without one. `more`: further directives of the policy.
    """
    policy = f"default-src 'none'; img-src data:; style-src '{_hash(style)}'"
    policy += f"; script-src '{_hash(script)}'" if script else ""
    return Look(style, script, policy + more)


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
