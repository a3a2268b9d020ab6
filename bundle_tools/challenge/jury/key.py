"""The organiser's key: teams, control items and measured scores. It is never on a sheet."""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bundle_tools.errors import BundleError

FORMAT_VERSION = 2


@dataclass(frozen=True)
class Team:
    """One finalist."""

    letter: str
    """Its name in anonymous files."""
    name: str
    """The run's name."""
    rated_sha256: str
    """SHA-256 of the rated explanations and their submission."""
    total: float
    """Its measured explanation score, 0 to 100."""
    band: int
    """Its band among the finalists, 1 for the best."""


@dataclass(frozen=True)
class Item:
    """One explanation that jurors rate."""

    item_id: str
    """Opaque; reveals neither clip, team nor kind."""
    kind: str
    """`genuine`, `boilerplate` or `repeat`."""
    clip_id: str
    letter: str
    of: str
    """The genuine item that is repeated, or whose text was replaced; empty for a genuine item."""
    effect: str
    """Change of the main score without the question's cue: `higher`, `same`, `lower`; empty if not asked."""


@dataclass(frozen=True)
class Key:
    """One jury."""

    phase: str
    main_target: str
    """Target on which the explanations are judged."""
    rules_sha256: str
    """Hash of the rules when the sheets were made."""
    teams: tuple[Team, ...]
    """By letter."""
    clips: tuple[str, ...]
    """Clips that every finalist is judged on."""
    items: tuple[Item, ...]
    """All items that are on the sheets."""
    missing: tuple[tuple[str, str], ...]
    """(letter, clip id) of missing explanations; each counts as the lowest rating without being asked about."""
    sheets: tuple[str, ...]
    """Id of each juror's sheet; a juror's number is the position in this list, from 1."""

    @property
    def design(self) -> str:
        """Hash of everything that two sheets of one jury share."""
        return hashlib.sha256(_text(self).encode()).hexdigest()

    def team(self, letter: str) -> Team:
        """Find a team by its letter."""
        return next(team for team in self.teams if team.letter == letter)


def write_key(path: Path, key: Key) -> None:
    """Write the key, for the organiser only."""
    path.write_text(_text(key) + "\n", "utf-8")
    path.chmod(0o600)


def read_key(path: Path) -> Key:
    """Read a key.

    Raises BundleError when the file is not a key.
    """
    if not path.is_file():
        raise BundleError(f"{path}: no such file. Expected the key.json that `bundle jury make` wrote.")
    try:
        root: dict[str, Any] = json.loads(path.read_text("utf-8"))
        if root.pop("format_version") != FORMAT_VERSION:
            raise BundleError(f"{path}: expected format_version {FORMAT_VERSION}. Use the release that made it.")
        return Key(
            **{
                **root,
                "teams": tuple(Team(**entry) for entry in root["teams"]),
                "clips": tuple(root["clips"]),
                "items": tuple(Item(**entry) for entry in root["items"]),
                "missing": tuple((letter, clip_id) for letter, clip_id in root["missing"]),
                "sheets": tuple(root["sheets"]),
            }
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        expected = "the key.json that `bundle jury make` wrote"
        raise BundleError(f"{path}: expected {expected} ({type(error).__name__}: {error!s:.200}).") from error


def _text(key: Key) -> str:
    return json.dumps({"format_version": FORMAT_VERSION, **asdict(key)}, indent=1, sort_keys=True)
