"""Where the numbers come from."""

from __future__ import annotations

from dataclasses import dataclass

Facts = tuple[tuple[str, str], ...]
"""(label, value) pairs."""


@dataclass(frozen=True)
class Provenance:
    """What is needed to cite a score, and to get it again."""

    citation: str
    """One line to cite the score by: what, of what, under which settings."""
    versions: Facts
    """Data, settings, submission and seeds, as hashes where they are files."""
    machine: Facts
    """What it ran on, and how long."""
    method: tuple[str, ...]
    """How the numbers were made, in sentences."""
