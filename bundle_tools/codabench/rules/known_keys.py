"""Rules about the keys of `competition.yaml`: unknown, missing and misused ones."""

from collections.abc import Iterable, Iterator

from bundle_tools.codabench.keys import Mistake
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.rules.findings import CRASHES, IGNORED, REFUSED, Finding


def check_keys(draft: Draft) -> Iterator[Finding]:
    """Find what is wrong with any key of the file."""
    yield from _told(draft, draft.mistakes)


def check_board_keys(draft: Draft) -> Iterator[Finding]:
    """Find wrong keys of leaderboards; in a converted file all other keys are Codabench's own."""
    yield from _told(draft, (one for one in draft.mistakes if one.place[0] == "leaderboards"))


def _told(draft: Draft, mistakes: Iterable[Mistake]) -> Iterator[Finding]:
    for one in mistakes:
        where, key = draft.at(*one.place), one.place[-1]
        if one.kind == "unknown":
            fix = f"Did you mean {one.near!r}?" if one.near else "Delete it."
            yield Finding("key-unknown", "warning", where, f"The key {one.what} is unknown.", IGNORED, fix)
        elif one.kind == "missing":
            yield Finding("key-missing", "error", where, f"The key {one.what!r} is missing.", REFUSED, "Add it.")
        elif one.kind == "null":
            fix = "Give a value or leave the key out."
            yield Finding("key-null", "error", where, f"{key}: {one.what}.", CRASHES, fix)
        elif one.kind == "value":
            yield Finding("key-value", "error", where, f"{key}: {one.what}.", REFUSED, "Correct the value.")
        elif one.kind == "entry":
            what = f"{one.place[-2]}: {one.what}."
            yield Finding("entry-type", "error", where, what, CRASHES, "Write keys and values.")
        else:
            yield Finding(f"{key}-empty", "error", where, f"{key} {one.what}.", CRASHES, "Add at least one.")
