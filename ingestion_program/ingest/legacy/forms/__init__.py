"""The forms in which results come. All of this runs in the reading process only, behind its walls."""

from pathlib import Path

from ingest.legacy.forms.answers import Answers, Unreadable
from ingest.legacy.forms.coopetition import read_coopetition
from ingest.legacy.forms.records import read_records

__all__ = ["Answers", "read_form"]


def read_form(form: str, predictions: Path, explanations: Path | None) -> Answers:
    """Open the files of one form.

    Raises
    ------
    Unreadable
        When a file is not what the form says.
    """
    read = read_coopetition if form == "2017" else read_records
    try:
        return read(predictions, explanations)
    except Unreadable:
        raise
    except Exception as error:
        where = " or ".join(path.name for path in (predictions, explanations) if path is not None)
        # Only the type: the text of an exception may quote the file.
        raise Unreadable(where, type(error).__name__, "data in the form of the page on results") from error
