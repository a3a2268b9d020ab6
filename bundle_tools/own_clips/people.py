"""Names of people as people write them: one person in two spellings, and words that name nobody."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from bundle_tools.console import ask, counted, say
from bundle_tools.own_clips.files import Problems

ASK, JOIN, KEEP = CHOICES = ("ask", "join", "keep")
"""What to do about names that look alike: ask, make one person of them, or take every name as it is written."""
NOBODY = frozenset(
    {
        *("", "anon", "anonymous", "missing", "na", "nan", "nil", "nobody", "none", "notavailable", "null", "nv"),
        *("other", "others", "tbd", "unclear", "undefined", "unidentified", "unknown", "various"),
    }
)
"""Names, as `sound_of` gives them, that stand for a person whose name is not known."""


def sound_of(name: str) -> str:
    """Return what names of one person have in common, however they are spelt.

    Capitals, accents, blanks, signs, leading zeros and a final ``.0`` do not matter: P01, p1 and P_1 are alike, and so
    are 7 and 007.0. Numbers stay apart: 1-11 is not 11-1.
    """
    letters = unicodedata.normalize("NFKD", re.sub(r"(?<=\d)\.0+$", "", name.strip())).casefold()
    # Accents combine with a letter; vowel signs, as of Devanagari, are letters of their own.
    spoken = (
        char if unicodedata.category(char)[0] in "LMN" else " " for char in letters if not unicodedata.combining(char)
    )
    parts = re.findall(r"\d+|[^\d\s]+", "".join(spoken))
    return "".join(f"{part.lstrip('0')}." if part.isdecimal() else part for part in parts)


def is_nobody(name: str) -> bool:
    """Return whether a text only fills a cell, as ``n/a`` does, or is a code of something missing, as -1 is."""
    return sound_of(name) in NOBODY or re.fullmatch(r"-\d+(\.0+)?", name.strip()) is not None


def same_people(names: Iterable[str], choice: str, problems: Problems) -> tuple[Mapping[str, str], list[str]]:
    """Find out who may be the same person; placeholders become problems.

    `names`: the name in each row of a table. `choice`: one of `CHOICES`. Returns the name of the person by each
    spelling, and a line for each person who has several.
    """
    rows = Counter(filter(None, names))
    if choice == KEEP:
        return {name: name for name in rows}, []
    nobody = [f"{name} ({counted(rows[name], 'row')})" for name in sorted(rows) if is_nobody(name)]
    fix = "Name the people, or leave their clips out. If such a name is somebody's, add --look-alikes keep."
    problems.add("names that stand for nobody", *nobody, fix=fix)
    spellings: dict[str, list[str]] = {}
    for name, _ in rows.most_common():
        spellings.setdefault(sound_of(name), []).append(name)
    alike = [
        " and ".join(f"{name} ({counted(rows[name], 'row')})" for name in group)
        for sound, group in spellings.items()
        if len(group) > 1 and sound not in NOBODY
    ]
    return {name: group[0] for group in spellings.values() for name in group}, alike


def confirm_same(alike: Sequence[str], problems: Problems) -> None:
    """Ask on a terminal whether each line is one person; without a clear yes, or where more is wrong, a problem."""
    for line in alike:
        say(f"One person? {line}")
    if alike and not problems and ask("Is every line one person, whose clips stay together? [y/N] "):
        return
    fix = (
        "Correct the table, or add --look-alikes join, which makes one person of each, or --look-alikes keep, which "
        "takes every name as it is written."
    )
    problems.add("people who may be the same", *alike, fix=fix)
