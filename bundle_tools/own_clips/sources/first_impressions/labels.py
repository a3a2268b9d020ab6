"""Labels and transcripts: Python 2 pickles, read without unpickling them."""

import math
from collections.abc import Mapping

from bundle_tools.own_clips.files.places import Place, read_one
from bundle_tools.own_clips.problems import Problems
from bundle_tools.own_clips.sources.first_impressions.facts import CHALLENGE, CLIP_NAME, DOWNLOAD_AGAIN

# The ingestion program's reader runs no code from a file.
from model_process.results.pickles import PickleRefused, read_pickle

LARGEST_PICKLE = 64 << 20
COLUMNS = tuple(target.column for target in CHALLENGE.targets)
_BROKEN = "pickles unlike those of the data set"


def read_labels(places: Mapping[str, Place], problems: Problems) -> dict[str, dict[str, tuple[float, ...]]]:
    """Read the labels of every official part.

    `places`: ``annotation_*.pkl`` by official part: a dict of columns, each a dict of clips. Returns labels by official
    part and clip, in the order of our targets; clips with a problem are left out.
    """
    labels = {split: _rows(_columns(place, problems), place, problems) for split, place in places.items()}
    seen: dict[str, str] = {}
    for split, rows in labels.items():
        for clip in rows:
            if seen.setdefault(clip, split) != split:
                where = f"{clip} (in {seen[clip]} and in {split})"
                problems.add("clips with labels in two parts", where, fix=DOWNLOAD_AGAIN)
    return labels


def read_transcripts(places: Mapping[str, Place], problems: Problems) -> dict[str, str]:
    """Read the transcripts: ``transcription_*.pkl``, each a dict of texts by clip."""
    transcripts: dict[str, str] = {}
    for place in places.values():
        for key, text in (_unpickled(place, problems) or {}).items():
            if isinstance(key, str) and isinstance(text, str):
                transcripts[key] = text
            else:
                problems.add(_BROKEN, f"{place} (expected texts by clip)", fix=DOWNLOAD_AGAIN)
                break
    return transcripts


def _unpickled(place: Place, problems: Problems) -> dict[object, object] | None:
    """Return a pickle's dict; if it cannot be read, note a problem and return None."""
    content = read_one(place) if place.size <= LARGEST_PICKLE else f"{place.size} bytes"
    if isinstance(content, str):
        problems.add("files that cannot be read", f"{place} ({content})", fix=DOWNLOAD_AGAIN)
        return None
    try:
        found = read_pickle(content)
    except PickleRefused as error:
        problems.add(_BROKEN, f"{place} ({error})", fix=DOWNLOAD_AGAIN)
        return None
    if not isinstance(found, dict):
        problems.add(_BROKEN, f"{place} (expected a dict)", fix=DOWNLOAD_AGAIN)
        return None
    return found


def _columns(place: Place, problems: Problems) -> dict[str, dict[object, object]]:
    """Return the six columns; if they are not the expected ones, note a problem and return none."""
    content = _unpickled(place, problems)
    if content is None:
        return {}
    expected = f"Expected {', '.join(sorted(COLUMNS))}."
    found = {str(name): column for name, column in content.items() if isinstance(column, dict)}
    missing, unknown = set(COLUMNS) - found.keys(), set(map(str, content)) - set(COLUMNS)
    problems.add("missing columns", *(f"{place}: {name}" for name in sorted(missing)), fix=expected)
    problems.add("unknown columns", *(f"{place}: {name}" for name in sorted(unknown)), fix=expected)
    return {} if missing or unknown else found


def _rows(
    columns: Mapping[str, Mapping[object, object]], place: Place, problems: Problems
) -> dict[str, tuple[float, ...]]:
    rows: dict[str, tuple[float, ...]] = {}
    for clip in dict.fromkeys(clip for column in columns.values() for clip in column):
        if not isinstance(clip, str) or not CLIP_NAME.fullmatch(clip):
            problems.add("labels of names that are not clips", f"{place}: {clip}", fix=DOWNLOAD_AGAIN)
            continue
        absent = [name for name in COLUMNS if columns[name].get(clip) is None]
        numbers = tuple(_number(columns[name].get(clip)) for name in COLUMNS)
        if absent:
            where = f"{place}: {clip} ({', '.join(absent)})"
            problems.add("clips without some of the labels", where, fix=DOWNLOAD_AGAIN)
        elif not all(0 <= value <= 1 for value in numbers):
            problems.add("labels that are not numbers from 0 to 1", f"{place}: {clip}", fix=DOWNLOAD_AGAIN)
        else:
            rows[clip] = numbers
    return rows


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else math.nan
