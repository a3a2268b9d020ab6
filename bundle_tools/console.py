"""What the user sees: lines on standard output, and a progress bar on a terminal only."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm import tqdm

Progress = Callable[[int, int], None]
"""Called with (steps done, steps in all)."""


def say(text: str = "") -> None:
    """Print one line at once, so that it keeps its place among the lines of the programs."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


@contextmanager
def progress_bar(title: str, unit: str = "clip") -> Iterator[Progress | None]:
    """Give a progress callback while the block runs; None where standard error is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    with tqdm(desc=title, unit=unit, leave=False) as bar:

        def update(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield update
