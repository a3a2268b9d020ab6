"""Rules about key frames: the small pictures of clips that the report shows."""

import hashlib
import io
import re
import warnings
from collections import Counter
from collections.abc import Iterator

from PIL import Image

from bundle_tools.challenge.rules.clips.side import Absence, Side, find_named
from bundle_tools.challenge.rules.clips.tables import LABELS, read_labels, read_table
from bundle_tools.codabench.rules.dataset import Dataset
from bundle_tools.codabench.rules.findings import Finding, shown

COLUMNS = ["clip_id", "file", "time_s", "sha256"]
LARGEST_BYTES = 64 * 2**10
LARGEST_SIDE = 1024
PATH = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}/[A-Za-z0-9][A-Za-z0-9_-]{0,63}\.jpg")
ORNAMENT = "The report shows fewer pictures."
AGAIN = "Make them again: bundle data key-frames."
ABSENCE = Absence("key-frames-missing", ORNAMENT, AGAIN)


def check_key_frames(side: Side) -> Iterator[Finding]:
    """Find key frames that are missing, of other clips, no pictures, or in a phase that hides its true values.

    Parameters
    ----------
    side
        The reference data.
    """
    report = side.settings.get("report")
    if not isinstance(report, dict) or report.get("key_frames") is None:
        return
    if report.get("truth") is not True:
        where, effect = side.at("task.yaml"), "Scoring refuses to show pictures of hidden clips."
        what = "report.key_frames: pictures of clips in a phase whose report hides true values."
        yield Finding("key-frames-closed", "error", where, what, effect, "Delete the key there.")
    name = yield from find_named(side, "key_frames", report["key_frames"], ABSENCE)
    if name is None:
        return
    where, data = side.at(name), side.data
    table = read_table(data.text(name))
    if not table or table[0] != COLUMNS:
        what = f"Expected the header {','.join(COLUMNS)}; found {shown(','.join(table[0]) if table else '')}."
        yield Finding("key-frames-list", "error", where, what, ORNAMENT, AGAIN)
        return
    rows = [row for row in table[1:] if len(row) == len(COLUMNS) and PATH.fullmatch(row[1]) and _is_time(row[2])]
    if len(rows) < len(table) - 1:
        what = f"{len(table) - 1 - len(rows)} rows that are no clip, folder/file.jpg, seconds and SHA-256."
        yield Finding("key-frames-list", "error", where, what, ORNAMENT, AGAIN)
    yield from _check_clips(where, Counter(row[0] for row in rows), data)
    yield from _check_pictures(where, rows, data)


def _check_clips(where: str, listed: Counter[str], data: Dataset) -> Iterator[Finding]:
    clips = set(read_labels(data).rows) if LABELS in data.names() else set()
    for what, odd in (
        ("have a label and no key frame", sorted(clips - listed.keys())),
        ("have a key frame and no label", sorted(listed.keys() - clips)),
        ("have more than one key frame", sorted(clip for clip, count in listed.items() if count > 1)),
    ):
        if odd:
            found = f"{len(odd)} clips {what}, such as {shown(odd[0])}."
            yield Finding("key-frames-clips", "error", where, found, ORNAMENT, AGAIN)


def _check_pictures(where: str, rows: list[list[str]], data: Dataset) -> Iterator[Finding]:
    names = set(data.names())
    faults: dict[tuple[str, str], list[str]] = {}
    for _, file, _, digest in rows:
        if file not in names:
            faults.setdefault(("key-frames-missing", "are not there"), []).append(file)
        elif data.size(file) > LARGEST_BYTES:
            faults.setdefault(("key-frames-picture", "are larger than 64 KiB"), []).append(file)
        elif hashlib.sha256(content := data.read(file)).hexdigest() != digest.lower():
            faults.setdefault(("key-frames-picture", "are others than the list says"), []).append(file)
        elif not _is_picture(content):
            faults.setdefault(("key-frames-picture", "are no JPEG of at most 1024 x 1024 pixels"), []).append(file)
    for (code, what), files in faults.items():
        yield Finding(code, "error", where, f"{len(files)} files {what}, such as {shown(files[0])}.", ORNAMENT, AGAIN)


def _is_picture(content: bytes) -> bool:
    """Tell whether a file is a JPEG that scoring shows; a small file can claim any number of pixels."""
    try:
        with warnings.catch_warnings(action="ignore"), Image.open(io.BytesIO(content), formats=["JPEG"]) as image:
            if max(image.size) > LARGEST_SIDE:
                return False
            image.load()
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return False
    return True


def _is_time(text: str) -> bool:
    return bool(re.fullmatch(r"\d{1,6}(\.\d{1,9})?", text))
