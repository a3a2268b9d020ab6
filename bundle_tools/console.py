"""What the user sees: lines on standard output, and a progress bar on a terminal only."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from tqdm import tqdm

from bundle_tools.errors import BundleError

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


def confirm(plan: Sequence[str], *, yes: bool) -> None:
    """Say what is about to be changed, and ask whether to go on.

    Parameters
    ----------
    plan
        One line a change.
    yes
        Whether that was answered on the command line.

    Raises
    ------
    BundleError
        If the answer is no, or if there is nobody to ask.
    """
    for line in plan:
        say(line)
    if yes:
        return
    if not sys.stdin.isatty():
        raise BundleError("nothing was changed: nobody is here to say yes. Add --yes.")
    if input("Go on? [y/N] ").strip().lower() not in {"y", "yes"}:
        raise BundleError("nothing was changed.")
