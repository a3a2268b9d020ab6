"""Tables of the keys that Codabench knows, and the one function that holds a mapping against them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

from bundle_tools.codabench.booleans import BOOLEAN_WORDS, is_on
from bundle_tools.codabench.rules.document import Draft, Key
from bundle_tools.codabench.rules.findings import CRASHES, IGNORED, REFUSED, Finding, shown

__all__ = ["Field", "Kind", "check_fields", "is_on"]

Kind = Literal["text", "bool", "integer", "list", "mapping", "path", "date", "any"]


@dataclass(frozen=True)
class Field:
    """What one key may hold."""

    kind: Kind
    """Type of the value; dates and paths are looked at by rules of their own."""
    required: bool = False
    """Whether Codabench refuses a bundle without it."""
    longest: int | None = None
    """Most characters of a text."""
    minimum: int = 0
    """Smallest integer."""
    maximum: int = 2**31 - 1
    """Largest integer."""
    choices: frozenset[str] = frozenset()
    """The only texts allowed; empty means any."""
    null: bool = False
    """Whether an explicit null is accepted."""
    empty: bool = False
    """Whether an empty text is accepted."""


def check_fields(
    draft: Draft, path: tuple[Key, ...], entry: Mapping[Any, Any], known: dict[str, Field]
) -> Iterator[Finding]:
    """Find unknown, missing and misused keys of one mapping."""
    for key in entry:
        if key not in known:
            near = _nearest(str(key), known)
            hint = f"Did you mean {near!r}?" if near else "Delete it."
            what = f"The key {shown(key)} is unknown."
            yield Finding("key-unknown", "warning", draft.at(*path, str(key)), what, IGNORED, hint)
    for key, rule in known.items():
        where = draft.at(*path, key)
        if key not in entry:
            if rule.required:
                yield Finding(
                    "key-missing", "error", draft.at(*path), f"The key {key!r} is missing.", REFUSED, "Add it."
                )
            continue
        value = entry[key]
        if value is None:
            if not rule.null:
                what = f"{key}: expected a value; found null."
                yield Finding("key-null", "error", where, what, CRASHES, "Give a value or leave the key out.")
            continue
        problem = _problem(value, rule)
        if problem:
            yield Finding("key-value", "error", where, f"{key}: {problem}.", REFUSED, "Correct the value.")


def _problem(value: object, rule: Field) -> str | None:
    if rule.kind == "text":
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            return f"expected a text; found {shown(value)}"
        text = str(value)
        if not text.strip() and not rule.empty:
            return "expected a text; found an empty one"
        if rule.longest is not None and len(text) > rule.longest:
            return f"expected at most {rule.longest} characters; found {len(text)}"
        if rule.choices and text not in rule.choices:
            return f"expected one of {', '.join(sorted(rule.choices))}; found {shown(value)}"
    elif rule.kind == "bool" and not isinstance(value, bool) and str(value).lower() not in BOOLEAN_WORDS:
        return f"expected true or false; found {shown(value)}"
    elif rule.kind == "integer":
        if isinstance(value, bool) or not isinstance(value, int):
            return f"expected an integer; found {shown(value)}"
        if not rule.minimum <= value <= rule.maximum:
            return f"expected {rule.minimum} to {rule.maximum}; found {value}"
    elif rule.kind == "list" and not isinstance(value, list):
        return f"expected a list; found {shown(value)}"
    elif rule.kind == "mapping" and not isinstance(value, dict):
        return f"expected keys and values; found {shown(value)}"
    return None


def _nearest(key: str, known: dict[str, Field]) -> str | None:
    close = get_close_matches(key, known, n=1, cutoff=0.75)
    return close[0] if close else None
