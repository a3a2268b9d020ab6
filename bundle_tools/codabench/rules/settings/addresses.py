"""Relative addresses in a page: in Markdown, in its reference-style links, and in HTML.

Every pattern starts where the one before ended and never looks past the next opening sign, so that a page of any shape
is read in one pass.
"""

import re
from collections.abc import Iterator

# Brackets of Markdown; an escaped sign is a separate sign, and a blank line closes anything open.
MARK = re.compile(r"""\\.|!?\[|\](?:\(\s*<?(?P<target>[^()<>"'\s]*))?|\n[ \t]*\n""")
DEFINITION = re.compile(
    r"""^ {0,3}\[(?!\^)[^\[\]\n]+\]:[ \t]*<?(?P<target>[^\s<>]+)>?[ \t]*(?:["'(].*)?$""", re.MULTILINE
)
TAG = re.compile(
    r"<(?P<name>a|area|audio|embed|iframe|img|input|source|track|video)(?=[\s/])(?P<rest>[^<>]*)", re.IGNORECASE
)
ATTRIBUTE = re.compile(
    r"""(?<=[\s"'/])(?P<name>[^\s"'<>/=]+)\s*=\s*(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>[^\s"'<>=`]+))""",
    re.IGNORECASE,
)
LINKING = frozenset({"a", "area"})
# Pictures must come from another site; a link may also lead to a place on the same site or page.
LOADED_ELSEWHERE = re.compile(r"https?://|data:|blob:|//", re.IGNORECASE)
LEADS_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|/|#", re.IGNORECASE)


def loaded(text: str) -> list[str]:
    """Return the relative addresses of pictures, films and sounds, each once."""
    return _relative(LOADED_ELSEWHERE, (target for linking, target in _addresses(text) if not linking))


def linked(text: str) -> list[str]:
    """Return the relative addresses of links, each once."""
    return _relative(LEADS_ELSEWHERE, (target for linking, target in _addresses(text) if linking))


def _relative(elsewhere: re.Pattern[str], targets: Iterator[str]) -> list[str]:
    return list(dict.fromkeys(target for target in targets if target and not elsewhere.match(target)))


def _addresses(text: str) -> Iterator[tuple[bool, str]]:
    """Yield (whether it is a link, address)."""
    opened: list[bool] = []
    for mark in MARK.finditer(text):
        sign = mark.group()
        if sign.endswith("[") and not sign.startswith("\\"):
            opened.append(sign == "[")
        elif sign.startswith("]"):
            linking = opened.pop() if opened else None
            if linking is not None and mark["target"]:
                yield linking, mark["target"]
        elif sign.startswith("\n"):
            opened.clear()
    for definition in DEFINITION.finditer(text):
        yield True, definition.group("target")
    for tag in TAG.finditer(text):
        wanted = {"href"} if tag.group("name").lower() in LINKING else {"src", "poster"}
        for attribute in ATTRIBUTE.finditer(tag.group("rest")):
            if attribute.group("name").lower() in wanted:
                yield "href" in wanted, (attribute["double"] or attribute["single"] or attribute["bare"] or "").strip()
