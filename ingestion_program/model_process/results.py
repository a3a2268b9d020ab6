"""Submitted results, which take a model's place: their files are opened in the sandbox and queried like a model.

They have this challenge's own format, or that of the 2017 coopetition: two pickles written by Python 2. There,
predictions are a dict of targets, each a dict of clips. Explanations are a dict of clips, each a text and a picture or
None. The rules asked for RGB, but many pictures are BGR, as OpenCV reads them.
"""

import csv
import json
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from model_process.loading import LoadFailure
from model_process.pickles import PickledArray, PickleRefused, read_pickle

# Limits decoding, since a small file can hold a huge picture. OpenCV reads the variable only when it is loaded.
os.environ.setdefault("OPENCV_IO_MAX_IMAGE_PIXELS", str(4 << 20))
import cv2

FIX = "write the files as docs/results_2017.md shows; test at home with `kit.py run` of the starting kit"


class Unreadable(LoadFailure):
    """A file or an entry in it is invalid; says which and why."""

    def __init__(self, where: str, found: str, expected: str) -> None:
        super().__init__("results_unreadable", where=where, found=found[:300], expected=expected, fix=FIX)

    def __str__(self) -> str:
        return f"{self.report['where']}: {self.report['found']}"


@contextmanager
def readable(where: str, expected: str) -> Iterator[None]:
    """Report any exception raised while reading a file as a problem of that file."""
    try:
        yield
    except Unreadable:
        raise
    except Exception as error:
        # Otherwise only the type: an exception's text may quote the file.
        found = str(error) if isinstance(error, PickleRefused) else type(error).__name__
        raise Unreadable(where, found, expected) from error


def read_numbers(tables: dict[str, dict[str, Any]]) -> bool:
    """Convert numbers written as text, in place; return whether there were any."""
    any_text = False
    for table in tables.values():
        for name, value in table.items():
            if isinstance(value, str):
                with suppress(ValueError):
                    table[name] = float(value)
                    any_text = True
    return any_text


@dataclass(frozen=True)
class Content:
    """The content of the files, independent of their format."""

    predictions: dict[str, dict[str, Any]]
    """Values by target, then by clip."""
    explanations: Mapping[str, Any] | None
    """An entry per clip; None without a file of explanations."""
    explain: Callable[[Any], dict[str, Any]]
    """Converts an entry to what a model would have returned."""
    oddities: tuple[str, ...] = ()
    """Codes of unusual findings."""


PICKLED_PREDICTIONS = "a pickle of {target: {clip: number}}"
PICKLED_EXPLANATIONS = "a pickle of {clip: (text, picture or None)}"
METADATA = "metadata.txt"
LONGEST = 64 << 10
PICTURE_ORDER = re.compile(r"^\s*pictures\s*[:=]\s*(rgb|bgr)\s*$", re.IGNORECASE | re.MULTILINE)


def read_coopetition(predictions: Path, explanations: Path | None) -> Content:
    """Open both pickles; pictures become arrays when they are needed.

    Raises Unreadable when a file is not a pickle of plain data, or has another structure.
    """
    tables = _open_pickle(predictions, PICKLED_PREDICTIONS)
    for target, table in tables.items():
        if not isinstance(table, dict):
            raise Unreadable(predictions.name, f"{type(table).__name__} for {ascii(target)[:60]}", PICKLED_PREDICTIONS)
    entries = None if explanations is None else _open_pickle(explanations, PICKLED_EXPLANATIONS)
    order = _stated_order(predictions.parent / METADATA)
    oddities = []
    if read_numbers(tables):
        oddities.append("numbers_as_text")
    if order is None and entries and any(_parts(entry)[1] is not None for entry in entries.values()):
        oddities.append("picture_order")
    return Content(tables, entries, partial(_explain_pickled, bgr=order == "bgr"), tuple(oddities))


def _open_pickle(path: Path, expected: str) -> dict[str, Any]:
    with readable(path.name, expected):
        content = read_pickle(path)
    if not isinstance(content, dict):
        raise Unreadable(path.name, type(content).__name__, expected)
    return content


def _stated_order(path: Path) -> str | None:
    """Return `rgb` or `bgr` if a line such as `pictures: bgr` says so."""
    if path.is_symlink() or not path.is_file():
        return None
    with path.open("rb") as file:
        match = PICTURE_ORDER.search(file.read(LONGEST).decode("utf-8", "replace"))
    return match[1].lower() if match else None


def _parts(entry: object) -> tuple[Any, Any]:
    """Return text and picture: entries of 2017 are pairs, those of the sample without pictures only a text."""
    parts = entry if isinstance(entry, tuple | list) else (entry,)
    return (*parts, None, None)[:2]


def _explain_pickled(entry: object, *, bgr: bool) -> dict[str, Any]:
    text, image = (part.read() if isinstance(part, PickledArray) else part for part in _parts(entry))
    if bgr and isinstance(image, np.ndarray) and image.shape[2:] == (3,):
        image = image[:, :, ::-1]
    return {"text": text, "image": image}


LARGEST_PICTURE = 8 << 20
PREDICTIONS = "clip_id,<target>,… and a row of numbers per clip"
EXPLANATIONS = 'a line {"clip_id": …, "text": …, "image": …, "evidence": …} for each clip'
PICTURE = f"a JPEG of at most {LARGEST_PICTURE >> 20} MB and 4 million pixels"
IMAGE = re.compile(r"images/[A-Za-z0-9][A-Za-z0-9_.-]{0,80}\.jpg")


def read_records(predictions: Path, explanations: Path | None) -> Content:
    """Open the records.

    Raises Unreadable when a file does not follow docs/output_format.md.
    """
    lines = None if explanations is None else _read_lines(explanations)
    folder = predictions.parent
    return Content(_read_table(predictions), lines, lambda line: _explain(_parse(line), folder))


def _read_table(path: Path) -> dict[str, Any]:
    """Return the values of all clips by target."""
    with readable(path.name, PREDICTIONS), path.open(encoding="utf-8-sig", newline="") as file:
        header, *rows = [row for row in csv.reader(file, strict=True) if row] or [[]]
    if header[:1] != ["clip_id"] or len(set(header)) < len(header):
        raise Unreadable(path.name, f"the header {','.join(header)[:100]}", PREDICTIONS)
    clips: dict[str, list[str]] = {}
    for number, row in enumerate(rows, 2):
        if len(row) != len(header) or row[0] in clips:
            found = "a wrong number of cells, or a duplicate clip"
            raise Unreadable(f"{path.name} row {number}", found, PREDICTIONS)
        clips[row[0]] = row[1:]
    tables = {target: {clip: row[at] for clip, row in clips.items()} for at, target in enumerate(header[1:])}
    read_numbers(tables)
    return tables


def _read_lines(path: Path) -> dict[str, bytes]:
    """Return each clip's record, unparsed: parsed records would take many times the memory."""
    lines: dict[str, bytes] = {}
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            with readable(f"{path.name} line {number}", EXPLANATIONS):
                clip_id = _parse(line)["clip_id"]
                if not isinstance(clip_id, str) or clip_id in lines:
                    found = "a clip_id that is not a text, or a duplicate one"
                    raise Unreadable(f"{path.name} line {number}", found, EXPLANATIONS)
                lines[clip_id] = line
    return lines


def _parse(line: bytes) -> Any:  # noqa: ANN401 - JSON holds anything
    return json.loads(line, parse_constant=lambda _: math.nan)


def _explain(record: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the record as a model would have returned it."""
    image, evidence = record.get("image"), record.get("evidence")
    explanation = {key: value for key, value in record.items() if key != "clip_id"}
    if isinstance(image, str) and IMAGE.fullmatch(image) and _is_regular(folder / image):
        explanation["image"] = read_picture(folder / image)
    if isinstance(evidence, dict):
        explanation["evidence"] = {
            key: part["weights"] if isinstance(part, dict) and "weights" in part else part
            for key, part in evidence.items()
        }
    return explanation


def read_picture(path: Path) -> npt.NDArray[np.uint8]:
    """Return RGB pixels of shape (height, width, 3).

    Raises Unreadable when the file is not a JPEG, or too large.
    """
    with path.open("rb") as file:
        data = file.read(LARGEST_PICTURE + 1)
    pixels = None
    if data.startswith(b"\xff\xd8") and len(data) <= LARGEST_PICTURE:
        with suppress(cv2.error):
            pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    if pixels is None:
        raise Unreadable(path.name, f"{len(data)} bytes that cannot be decoded, or too many pixels", PICTURE)
    return np.asarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB), np.uint8)


def _is_regular(path: Path) -> bool:
    """Whether this is a regular file in a real folder: neither may be a link."""
    return path.is_file() and not path.is_symlink() and not path.parent.is_symlink()


NAMED = 5
SUFFIX = ".mp4"


class SubmittedResults:
    """Answers from submitted files in place of a participant's model."""

    def __init__(
        self,
        submission: Path,
        *,
        form: str,
        predictions: str,
        explanations: str | None,
        clips: dict[str, str | None],
        targets: dict[str, str],
    ) -> None:
        """Open the files; `clips` holds the older name of each clip, `targets` the target of each older name.

        Raises Unreadable when a file does not have the format given by `form`.
        """
        explained = None if explanations is None else submission / explanations
        where = " or ".join(filter(None, (predictions, explanations)))
        with readable(where, "data in the format of docs/results_2017.md"):
            read = read_coopetition if form == "2017" else read_records
            self._content = read(submission / predictions, explained)
        self._clips = clips
        self._tables = dict(self._content.predictions)
        renamed = [name for name, target in targets.items() if name in self._tables and target not in self._tables]
        for name in renamed:
            self._tables[targets[name]] = self._tables.pop(name)
        self._entries = self._content.explanations or {}
        every = [*self._tables.values(), self._entries]
        self.names = {str(name) for table in every for name in table}
        """Names of all clips with an entry in any table."""
        unknown = sorted(self.names - {self._find(table, clip_id) for table in every for clip_id in clips})
        self.notes = dict.fromkeys(self._content.oddities, "")
        """Findings about the files as a whole: details by code, empty if the code says it all."""
        if renamed:
            self.notes["target_renamed"] = f"the name {', '.join(renamed)}"
        if unknown:
            named = ", ".join(name[:80] for name in unknown[:NAMED])
            self.notes["results_unknown"] = f"{len(unknown)} names that are not clips of this phase, such as {named}"
        if explanations is None:
            self.notes["results_unexplained"] = ""

    def predict(self, clip_id: str) -> dict[str, Any] | None:
        """Return the prediction for a clip; None if there is none."""
        names = {target: self._find(table, clip_id) for target, table in self._tables.items()}
        return {target: self._tables[target][name] for target, name in names.items() if name is not None} or None

    def explain(self, clip_id: str, _: object = None) -> dict[str, Any]:
        """Return the explanation for a clip; empty if there is none.

        Raises Unreadable when its entry cannot be read.
        """
        name = self._find(self._entries, clip_id)
        with readable("explanation", "a readable entry"):
            return {} if name is None else self._content.explain(self._entries[name])

    def _find(self, table: Mapping[str, Any], clip_id: str) -> str | None:
        return next((name for name in names_of(clip_id, self._clips.get(clip_id)) if name in table), None)


def names_of(clip_id: str, older: str | None) -> list[str]:
    """Return the names under which a clip may be listed: its older name first, with and without `.mp4`."""
    names = [clip_id] if older is None else [older, clip_id]
    return [spelling for name in names for spelling in (name, name.removesuffix(SUFFIX), name + SUFFIX)]
