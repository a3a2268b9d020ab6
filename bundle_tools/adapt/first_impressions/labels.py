"""Labels and transcripts: pickles of Python 2, read without unpickling them."""

import math
from collections.abc import Mapping
from typing import Any

from bundle_tools.adapt.first_impressions.facts import CLIP_NAME, NAME_IN_FILES
from bundle_tools.adapt.places import Place, read_one
from bundle_tools.adapt.problems import Problems
from bundle_tools.ingestion_program import use_own_ingestion_program

LARGEST_PICKLE = 64 << 20
_BROKEN = "pickles that are not as the data set's"
_AGAIN = "Download them again."


def read_labels(places: Mapping[str, Place], problems: Problems) -> dict[str, dict[str, tuple[float, ...]]]:
    """Read the labels of every official part.

    Parameters
    ----------
    places
        ``annotation_*.pkl`` by official part: a dict of columns, each a dict of clips.
    problems
        Receives everything that is wrong.

    Returns
    -------
    dict
        By official part, by clip, the labels in the order of our targets; clips with a problem are left out.
    """
    labels: dict[str, dict[str, tuple[float, ...]]] = {}
    seen: dict[str, str] = {}
    for split, place in places.items():
        columns = _columns(_unpickled(place, problems), place, problems)
        labels[split] = _rows(columns, place, problems)
        for clip in labels[split]:
            if clip in seen:
                where = f"{clip} (in {seen[clip]} and in {split})"
                problems.add("clips with labels in two parts", where, _AGAIN)
            seen.setdefault(clip, split)
    return labels


def read_transcripts(places: Mapping[str, Place], problems: Problems) -> dict[str, str]:
    """Read what is said: ``transcription_*.pkl``, each a dict of texts by clip."""
    transcripts: dict[str, str] = {}
    for place in places.values():
        content = _unpickled(place, problems)
        if content is None:
            continue
        if not isinstance(content, dict) or not all(
            isinstance(key, str) and isinstance(value, str) for key, value in content.items()
        ):
            problems.add(_BROKEN, f"{place} (expected a dict of texts by clip)", _AGAIN)
            continue
        transcripts |= content
    return transcripts


def _unpickled(place: Place, problems: Problems) -> Any:  # noqa: ANN401 - plain data of any shape
    """Return the data of a pickle; None with a problem where it cannot be read."""
    # The ingestion program's reader, which runs nothing that a file says.
    use_own_ingestion_program()
    from model_process.results.pickles import PickleRefused, read_pickle  # noqa: PLC0415 - the path is known only now

    if place.size > LARGEST_PICKLE:
        problems.add(_BROKEN, f"{place} ({place.size} bytes)", _AGAIN)
        return None
    content = read_one(place)
    if isinstance(content, str):
        problems.add("files that cannot be read", f"{place} ({content})", _AGAIN)
        return None
    try:
        return read_pickle(content)
    except PickleRefused as error:
        problems.add(_BROKEN, f"{place} ({error})", _AGAIN)
        return None


def _columns(content: object, place: Place, problems: Problems) -> dict[str, dict[str, object]]:
    """Return the six columns; none with a problem where they are others."""
    if content is None:
        return {}
    if not isinstance(content, dict) or not all(isinstance(column, dict) for column in content.values()):
        problems.add(_BROKEN, f"{place} (expected a dict of columns, each a dict of clips)", _AGAIN)
        return {}
    wanted = set(NAME_IN_FILES.values())
    for what, names in (
        ("columns that are missing", wanted - content.keys()),
        ("columns that are not known", content.keys() - wanted),
    ):
        problems.add_all(what, sorted(f"{place}: {name}" for name in names), f"Expected {', '.join(sorted(wanted))}.")
    return content if wanted == content.keys() else {}


def _rows(
    columns: Mapping[str, Mapping[str, object]], place: Place, problems: Problems
) -> dict[str, tuple[float, ...]]:
    rows: dict[str, tuple[float, ...]] = {}
    for clip in dict.fromkeys(clip for column in columns.values() for clip in column):
        if not isinstance(clip, str) or not CLIP_NAME.fullmatch(clip):
            problems.add("labels of something that is no clip", f"{place}: {clip}", _AGAIN)
            continue
        values = [columns[name].get(clip) for name in NAME_IN_FILES.values()]
        absent = [name for name, value in zip(NAME_IN_FILES.values(), values, strict=True) if value is None]
        numbers = tuple(_number(value) for value in values if value is not None)
        if absent:
            problems.add("clips without some of the labels", f"{place}: {clip} ({', '.join(absent)})", _AGAIN)
        elif not all(0 <= value <= 1 for value in numbers):
            problems.add("labels that are no numbers from 0 to 1", f"{place}: {clip}", _AGAIN)
        else:
            rows[clip] = numbers
    return rows


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else math.nan
