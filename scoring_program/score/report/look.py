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
    """Read style and script, and compute the policy from their hashes."""
    style = "\n" + "".join((_FOLDER / "style" / f"{name}.css").read_text("utf-8") for name in _STYLES)
    script = "\n" + (_FOLDER / "script" / "page.js").read_text("utf-8")
    policy = f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; script-src '{_hash(script)}'"
    return Look(style, script, policy)


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
