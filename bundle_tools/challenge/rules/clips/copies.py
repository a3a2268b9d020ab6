"""Rules about the rendered copies of clips in which one cue is neutral (docs/data_format.md)."""

import json
import zlib
from collections.abc import Iterator

from bundle_tools.challenge.rules.clips.listed import check_extra, check_files, check_tags
from bundle_tools.challenge.rules.clips.side import ListForm, Side, read_list
from bundle_tools.challenge.rules.clips.tables import vocabulary_of
from bundle_tools.challenge.rules.clips.video import Video
from bundle_tools.codabench.rules.findings import FAILS_LATER, Finding, shown
from bundle_tools.console import Progress

HEADER = ["copy_id", "clip_id", "cue", "file", "sha256"]
FORM = ListForm("copies", HEADER, "copies-missing", "copies-header")
DECODED_ONE_IN = 6
KNOWN_BY_FORM = "A model could tell the copy from the clip without looking at it."


def check_copies(
    side: Side, clips: list[str], videos: dict[str, Video], progress: Progress | None = None
) -> Iterator[Finding]:
    """Find copies that are missing, broken, unlike their clip, or of something that is not there.

    Parameters
    ----------
    side
        The input data.
    clips
        Ids of the clips.
    videos
        What each readable clip says of itself, by id.
    progress
        Told of each copy.
    """
    if side.settings.get("copies") is None:
        return
    name = str(side.settings["copies"])
    rows = yield from read_list(side, name, FORM)
    if rows is None:
        return
    where = side.at(name)
    # A line of another length stays as it is, and is told as one that is wrong.
    files = [[row[0], row[3], row[4]] if len(row) == len(HEADER) else [",".join(row)] for row in rows]
    copies: dict[str, Video] = {}
    yield from check_files(where, files, side.data, copies, list(clips), progress, _is_decoded)
    yield from _check_purpose(where, rows, clips, vocabulary_of(side.settings))
    yield from _check_form(where, rows, videos, copies)
    yield from check_tags(where, copies)
    yield from _check_transcripts(side, [row[0] for row in rows if len(row) == len(HEADER)])
    yield from check_extra(
        "copies-extra", "copies", where, side.data, {row[3] for row in rows if len(row) == len(HEADER)}
    )


def _is_decoded(file: str) -> bool:
    """Tell whether all frames of a copy are decoded: of every sixth, drawn by its name.

    There are three copies of a clip, all made by the program that made the clip, and the list holds the hash of each:
    decoding all would hardly find more, and take three times as long as the clips themselves.
    """
    return zlib.crc32(file.encode()) % DECODED_ONE_IN == 0


def _check_purpose(where: str, rows: list[list[str]], clips: list[str], vocabulary: list[str]) -> Iterator[Finding]:
    known = set(clips)
    seen: set[tuple[str, str]] = set()
    for line, row in enumerate(rows, start=2):
        if len(row) != len(HEADER):
            continue
        copy, clip, cue, *_ = row
        place = f"{where}:{line}"
        if clip not in known:
            what = f"{copy} is a copy of {shown(clip)}, which is no clip of the list."
            yield Finding("copies-clip", "error", place, what, FAILS_LATER, "Name a clip, or delete the line.")
        if cue not in vocabulary:
            what = f"{copy} neutralises {shown(cue)}, which is no cue of the vocabulary."
            yield Finding("copies-cue", "error", place, what, FAILS_LATER, "Name a cue of task.yaml.")
        if (clip, cue) in seen:
            what = f"{clip} has two copies without {cue}."
            yield Finding("copies-twice", "error", place, what, FAILS_LATER, "Delete one.")
        seen.add((clip, cue))


def _check_form(
    where: str, rows: list[list[str]], videos: dict[str, Video], copies: dict[str, Video]
) -> Iterator[Finding]:
    """Find copies that differ from their clip in what a model is told before it sees a frame."""
    for line, row in enumerate(rows, start=2):
        if len(row) != len(HEADER) or row[0] not in copies or row[1] not in videos:
            continue
        copy, clip = row[:2]
        if differences := videos[clip].differences(copies[copy]):
            what = f"{copy}, a copy of {clip}: {', '.join(differences)}."
            yield Finding("copy-differs", "error", f"{where}:{line}", what, KNOWN_BY_FORM, "Encode both alike.")


def _check_transcripts(side: Side, copies: list[str]) -> Iterator[Finding]:
    name = side.settings.get("transcripts")
    if not isinstance(name, str) or name not in side.data.names():
        return
    try:
        content = json.loads(side.data.text(name))
    except (ValueError, RecursionError):
        return
    missing = [copy for copy in copies if not isinstance(content, dict) or copy not in content]
    if missing:
        what = f"{len(missing)} copies have no transcript, such as {missing[0]}."
        effect = "Their words are gone, and the model answers to that, not to the cue."
        yield Finding("copies-transcripts", "error", side.at(name), what, effect, "Write the transcript of every copy.")
