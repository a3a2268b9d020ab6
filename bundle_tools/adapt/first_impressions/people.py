"""Ages, ethnicity and gender as raters saw them: to leave out minors and to measure fairness, never to predict."""

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bundle_tools.adapt.first_impressions.facts import AGES, CLIP_NAME, ETHNICITIES, GENDERS, OLDEST_MINOR
from bundle_tools.adapt.places import Place, read_one
from bundle_tools.adapt.problems import Problems
from bundle_tools.adapt.table import Table, read_table

_FIX = "Correct the table."


@dataclass(frozen=True)
class People:
    """What the tables say of who is shown."""

    groups: Mapping[str, Mapping[str, str]]
    """By clip, its groups by attribute."""
    aged: frozenset[str]
    """Clips whose age somebody judged."""
    minors: frozenset[str]
    """Clips in which anybody saw a person of 18 or younger."""


def read_people(groups: Iterable[Place], ages: Iterable[Place], problems: Problems) -> People:
    """Read all tables.

    A clip with several ages, one of each rater, has the middle one as its group, and counts as one of a minor if any
    of them says so.
    """
    found: dict[str, dict[str, str]] = {}
    for place, table in _tables(groups, ("VideoName", "Ethnicity", "Gender"), problems):
        for line, row in table.rows:
            clip = _clip(row["VideoName"], f"{place}:{line}", problems)
            for attribute, column, codes in (
                ("ethnicity", "Ethnicity", ETHNICITIES),
                ("gender", "Gender", GENDERS),
            ):
                code = _code(row[column], codes, f"{place}:{line} ({column})", problems)
                if clip and code:
                    found.setdefault(clip, {})[attribute] = codes[code]
    judged: dict[str, list[int]] = {}
    for place, table in _tables(ages, ("VideoName", "AgeGroup"), problems):
        for line, row in table.rows:
            clip = _clip(row["VideoName"], f"{place}:{line}", problems)
            code = _code(row["AgeGroup"], AGES, f"{place}:{line} (AgeGroup)", problems)
            if clip and code:
                judged.setdefault(clip, []).append(int(code))
    for clip, ratings in judged.items():
        found.setdefault(clip, {})["age"] = AGES[str(statistics.median_low(ratings))]
    minors = frozenset(clip for clip, ratings in judged.items() if min(ratings) <= OLDEST_MINOR)
    return People(found, frozenset(judged), minors)


def _tables(places: Iterable[Place], columns: tuple[str, ...], problems: Problems) -> Iterable[tuple[Place, Table]]:
    for place in places:
        content = read_one(place)
        if isinstance(content, str):
            problems.add("files that cannot be read", f"{place} ({content})", "Download them again.")
            continue
        table = read_table(content, str(place), problems, wanted=columns)
        if table is not None:
            yield place, table


def _clip(name: str, where: str, problems: Problems) -> str:
    """Give the name of a clip, empty with a problem where it is none."""
    full = name if name.endswith(".mp4") else f"{name}.mp4"
    if CLIP_NAME.fullmatch(full):
        return full
    problems.add("rows about something that is no clip", f"{where} ({name})", _FIX)
    return ""


def _code(cell: str, codes: Mapping[str, str], where: str, problems: Problems) -> str:
    """Give a code, also of a cell such as 5.0; empty with a problem where it is not known."""
    code = cell.removesuffix(".0")
    if code in codes:
        return code
    known = ", ".join(f"{code} {name}" for code, name in codes.items())
    problems.add("codes that are not known", f"{where}: {cell!r}", f"Known are {known}.")
    return ""
