"""Where the numbers come from."""

from __future__ import annotations

from dataclasses import dataclass

Facts = tuple[tuple[str, str], ...]
"""(label, value) pairs."""


@dataclass(frozen=True)
class Provenance:
    """What is needed to cite a score, and to get it again."""

    facts: Facts
    """Of the run."""
    method: tuple[str, ...]
    """How the numbers were made, in sentences."""
