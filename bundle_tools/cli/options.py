"""What several commands share: types of options, and how many processes to start."""

import argparse
import os
from datetime import datetime
from pathlib import Path


def add_bundle(parser: argparse.ArgumentParser) -> None:
    """Add `--bundle`, for commands that work on a bundle's folder."""
    parser.add_argument("--bundle", type=Path, help="folder of the bundle (default: this one, else the checkout)")


RUN = "a folder of `bundle run`, a submission's prediction output (folder or zip), or what `bundle server fetch` made"
"""What commands take that look at runs."""


def count(text: str) -> int:
    """Read a whole number, 0 or more."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a whole number such as 240; found {text!r}")
    return int(text)


def positive(text: str) -> int:
    """Read a whole number, 1 or more."""
    if count(text) == 0:
        raise argparse.ArgumentTypeError("expected at least 1; found 0")
    return int(text)


def moment(text: str) -> datetime:
    """Read a moment in UTC, written without a zone."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is not None:
        raise argparse.ArgumentTypeError(f'expected UTC without a zone, such as "2026-12-01 12:00:00"; found {text!r}')
    return found


def workers() -> int:
    """Give the number of processes for work that fills a core."""
    return os.cpu_count() or 1
