"""Age, ethnicity and gender as perceived by raters: used to leave out minors and measure fairness, never to predict."""

import statistics
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from bundle_tools.own_clips.files.places import Place, read_one
from bundle_tools.own_clips.files.tables import read_table
from bundle_tools.own_clips.problems import Problems
from bundle_tools.own_clips.sources.first_impressions.facts import (
    AGES,
    CLIP_NAME,
    DOWNLOAD_AGAIN,
    ETHNICITIES,
    GENDERS,
    OLDEST_MINOR,
)


@dataclass(frozen=True)
class People:
    """Attributes of the people shown."""

    groups: Mapping[str, Mapping[str, str]]
    """Groups by clip, then by attribute."""
    aged: frozenset[str]
    minors: frozenset[str]
    """Clips in which any rater saw a person of 18 or younger."""


def read_people(groups: Iterable[Place], ages: Iterable[Place], problems: Problems) -> People:
    """Read all tables.

    If several raters gave a clip's age, the group is their median, and the clip counts as showing a minor if any rater
    says so.
    """
    found: dict[str, dict[str, str]] = {}
    for clip, column, code in _codes(groups, {"Ethnicity": ETHNICITIES, "Gender": GENDERS}, problems):
        names = ETHNICITIES if column == "Ethnicity" else GENDERS
        found.setdefault(clip, {})[column.lower()] = names[code]
    judged: dict[str, list[int]] = {}
    for clip, _, code in _codes(ages, {"AgeGroup": AGES}, problems):
        judged.setdefault(clip, []).append(int(code))
    for clip, ratings in judged.items():
        found.setdefault(clip, {})["age"] = AGES[str(statistics.median_low(ratings))]
    minors = frozenset(clip for clip, ratings in judged.items() if min(ratings) <= OLDEST_MINOR)
    return People(found, frozenset(judged), minors)


def _codes(
    places: Iterable[Place], known: Mapping[str, Mapping[str, str]], problems: Problems
) -> Iterator[tuple[str, str, str]]:
    """Yield clip, column and code of every cell in the columns of `known`, which lists each column's codes."""
    for place in places:
        content = read_one(place)
        if isinstance(content, str):
            problems.add("files that cannot be read", f"{place} ({content})", fix=DOWNLOAD_AGAIN)
            continue
        table = read_table(content, str(place), problems, wanted=("VideoName", *known))
        for line, row in table.rows if table else ():
            clip = row["VideoName"].removesuffix(".mp4") + ".mp4"
            if not CLIP_NAME.fullmatch(clip):
                where = f"{place}:{line} ({row['VideoName']})"
                problems.add("rows about names that are not clips", where, fix="Correct the table.")
            for column, names in known.items():
                # Some tables write 5 as 5.0.
                code = row[column].removesuffix(".0")
                if code not in names:
                    where = f"{place}:{line} ({column}): {row[column]!r}"
                    fix = f"Known are {', '.join(f'{code} {name}' for code, name in names.items())}."
                    problems.add("unknown codes", where, fix=fix)
                elif CLIP_NAME.fullmatch(clip):
                    yield clip, column, code
