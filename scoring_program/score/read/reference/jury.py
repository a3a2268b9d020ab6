"""Ratings of a jury, by the hash of the rated explanations."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from score.errors import OrganiserError, wrong
from score.read.strict_json import StrictJsonError, finite_number, is_sha256, parse_object

FORMAT_VERSION = 2
LOWEST, HIGHEST = 0.0, 5.0
"""Scale of the column, as in 2017; ratings on another scale are rescaled to it."""
_LARGEST_FILE = 16 * 2**20


@dataclass(frozen=True)
class JuryRating:
    """How one submission's explanations were rated, on the scale from 0 to 5."""

    value: float
    """Mean, corrected for each juror's level and spread."""
    interval: tuple[float, float]
    """Bootstrap interval, over clips and jurors."""
    criteria: tuple[tuple[str, float], ...]
    """Title and mean of each criterion."""


def read_jury(path: Path) -> dict[str, JuryRating]:
    """Read ``jury.json``, which ``bundle jury score --write`` writes.

    Returns ratings by `Results.rated_as`. Raises OrganiserError with the mistakes; no rating is quoted.
    """
    try:
        return _ratings(parse_object(path.read_bytes(), _LARGEST_FILE))
    except (OSError, StrictJsonError, KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        found = str(error) if isinstance(error, StrictJsonError) else f"an unreadable file ({type(error).__name__})"
        problem = wrong("jury_broken", path.name, found, "the file that bundle jury score writes")
        raise OrganiserError("The ratings of the jury cannot be read.", [problem]) from None


def _ratings(root: dict[str, Any]) -> dict[str, JuryRating]:
    if root["format_version"] != FORMAT_VERSION:
        raise StrictJsonError("a different format_version")
    low, high = (float(end) for end in root["scale"])
    titles = {one["name"]: str(one["title"]) for one in root["criteria"]}
    if not low < high:
        raise StrictJsonError("a scale without length")

    def number(value: object) -> float:
        found = finite_number(value, low, high)
        if found is None:
            raise StrictJsonError("a rating that is missing or outside the scale")
        return LOWEST + (found - low) / (high - low) * (HIGHEST - LOWEST)

    ratings = {}
    for digest, entry in root["submissions"].items():
        if not is_sha256(digest):
            raise StrictJsonError("a submission without a SHA-256")
        ends = [number(end) for end in entry["interval"]]
        criteria = tuple((titles[name], number(value)) for name, value in entry["criteria"].items())
        ratings[digest] = JuryRating(number(entry["value"]), (ends[0], ends[1]), criteria)
    return ratings
