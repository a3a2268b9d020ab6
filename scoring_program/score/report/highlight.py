"""A text with the words marked that the parser of claims reads as cues."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from score.report.content.explanations import Piece, Text
from score.report.shorten import cut_place
from score.text import Mention, Vocabulary, cue_mentions
from score.text.reading import Triple
from score.visible import visible

_SHOWN = 420
_LONGEST = 5000


def highlight(text: str, vocabulary: Vocabulary, told: Iterable[Triple], titles: Mapping[str, str]) -> Text:
    """Part a text into plain words and cues.

    Parameters
    ----------
    text
        As given, whatever is in it; hidden characters are made visible here, markup is escaped by the template.
    vocabulary
        Cues and targets of the task.
    told
        What the parser understood.
    titles
        How people read the targets, by name.

    Returns
    -------
    Text
        The pieces in order; together they are the text without the white space around it, at most 5,000 characters.
    """
    start, end = len(text) - len(text.lstrip()), len(text.rstrip())
    mentions = _joined(text, cue_mentions(text, vocabulary))
    cut = start + cut_place(text[start:end], _SHOWN)
    cut = next((one.end for one in mentions if one.start < cut < one.end), cut)  # a marked word is not torn
    last = min(end, start + _LONGEST)
    said = {cue: _said(cue, told, titles) for cue in {mention.cue for mention in mentions}}
    shown, rest = (
        tuple(
            Piece(visible(text[begin:stop], _LONGEST), cue.replace("_", " "), *said.get(cue, (0, "")))
            for begin, stop, cue in _stretches(first, behind, mentions)
        )
        for first, behind in ((start, min(cut, last)), (cut, last))
    )
    return Text(shown, rest, cut_off=last < end)


def _said(cue: str, told: Iterable[Triple], titles: Mapping[str, str]) -> tuple[int, str]:
    """Return what is said of a cue, if that is one thing, and the whole in words."""
    signs = {target: sign for name, target, sign in told if name == cue}
    parts = []
    for wanted, verb in ((1, "raised"), (-1, "lowered")):
        targets = [title for name, title in titles.items() if signs.get(name) == wanted]
        if targets:
            parts.append(f"said to have {verb} {', '.join(targets)}")
    one = set(signs.values())
    return (one.pop() if len(one) == 1 else 0), "; ".join(parts)


def _joined(text: str, mentions: Iterable[Mention]) -> tuple[Mention, ...]:
    """Join mentions of one cue that stand side by side, such as "upright" and "posture"."""
    joined: list[Mention] = []
    for mention in mentions:
        if joined and joined[-1].cue == mention.cue and not text[joined[-1].end : mention.start].strip(" "):
            joined[-1] = replace(joined[-1], end=mention.end)
        else:
            joined.append(mention)
    return tuple(joined)


def _stretches(first: int, behind: int, mentions: Iterable[Mention]) -> Iterator[tuple[int, int, str]]:
    """Give (start, end, cue) of every stretch in order; plain words have no cue."""
    place = first
    for mention in mentions:
        if mention.start >= place and mention.end <= behind:
            if mention.start > place:
                yield place, mention.start, ""
            yield mention.start, mention.end, mention.cue
            place = mention.end
    if behind > place:
        yield place, behind, ""
