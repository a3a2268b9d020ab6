"""What CodaLab's first version says of a submission: the file ``metadata`` that it puts into the input folder.

Its other lines are addresses of files on the server, with the keys to open them; nothing but the five below is read.
"""

from __future__ import annotations

import re
from pathlib import Path

from score.read.output.manifest import is_regular

_FILE = "metadata"
_LARGEST = 64 * 2**10
_LINES = {
    "submitted-by": ("Submitted by", re.compile(r"[\w.@+-]{1,150}")),
    "submitted-at": ("Submitted at (UTC)", re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?", re.ASCII)),
    "competition-submission": ("Number of the submission", re.compile(r"\d{1,9}", re.ASCII)),
    "competition-phase": ("Number of the phase", re.compile(r"\d{1,9}", re.ASCII)),
    "automatic-submission": ("Moved from the phase before", re.compile(r"True|False")),
}
"""Key -> label in the report, and the form of a value that is believed."""
_LINE = re.compile(r"^([a-z-]{1,40}): *(.*?) *\r?$", re.MULTILINE)


def read_submission_metadata(source: Path) -> tuple[tuple[str, str], ...]:
    """Read who submitted what and when; nothing where the platform does not say, as Codabench does not.

    Parameters
    ----------
    source
        The input folder, which also holds ``ref`` and ``res``.

    Returns
    -------
    tuple
        (label, value) pairs for the report.
    """
    path = source / _FILE
    if not is_regular(source, _FILE) or path.stat().st_size > _LARGEST:
        return ()
    try:
        values = dict(_LINE.findall(path.read_text(encoding="utf-8", errors="replace")))
    except OSError:
        return ()
    return tuple((label, values[key]) for key, (label, form) in _LINES.items() if form.fullmatch(values.get(key, "")))
