"""Console output: lines on standard output, and progress of long tasks."""

import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from tqdm import tqdm

from bundle_tools.errors import BundleError

Progress = Callable[[int, int], None]
"""Called with (steps done, steps in all)."""
EVERY_S = 10
"""Time between two progress lines, seconds."""
PROGRESS = re.compile(r"(.*): \d+ of \d+ .* each; .*")
"""A program's progress line, with the name of the part of its work."""
ONE_UP = "\x1b[1A\x1b[2K"
"""Erases a terminal's last row."""


def say(text: str = "") -> None:
    """Print one line immediately, so that it stays in order with the programs' output."""
    tqdm.write(visible(from_here(text)), file=sys.stdout)  # above a progress bar, if there is one
    sys.stdout.flush()


def from_here(text: str) -> str:
    """Return a path relative to the current folder, if it is below it."""
    here = f"{Path.cwd()}{os.sep}"
    return text if here == os.sep * 2 else text.replace(here, "")


def visible(text: str) -> str:
    """Escape control characters: a server or a file may have sent them."""
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


class Screen:
    """Passes on the programs' output; on a terminal, each part of their work has one progress line."""

    def __init__(self) -> None:
        self._part = ""
        self._rows = 0

    def show(self, line: str, stream: TextIO) -> None:
        """Write a line to an output stream; a closed one, as in `| head`, is ignored."""
        with suppress(OSError, ValueError):
            encoding = stream.encoding or "utf-8"
            text = from_here(line).encode(encoding, "replace").decode(encoding)
            progress = PROGRESS.fullmatch(text.rstrip("\n"))
            part = progress[1] if progress else ""
            again = part and part == self._part and stream.isatty()
            stream.write(ONE_UP * self._rows + text if again else text)
            stream.flush()
            # A line wider than the terminal takes several rows.
            self._part, self._rows = part, -(-len(text.rstrip("\n")) // shutil.get_terminal_size().columns)


def counted(number: int, what: str) -> str:
    """Return a number with its noun: 1 submission, 2 submissions."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


@contextmanager
def progress_bar(title: str, unit: str = "clip") -> Iterator[Progress]:
    """Return a progress callback while the block runs: a bar on a terminal, elsewhere a line every ten seconds."""
    if not sys.stderr.isatty():
        yield _lines(title)
        return
    with tqdm(desc=title, unit=unit, leave=False) as bar:

        def update(done: int, total: int) -> None:
            if bar.total is None:
                bar.initial = bar.n = done - 1  # what an earlier run has done says nothing of the time left
            bar.total = total
            bar.update(done - bar.n)

        yield update


def _lines(title: str) -> Progress:
    begun_s = told_s = time.monotonic()
    before = -1
    """Steps that an earlier run had done."""

    def update(done: int, total: int) -> None:
        nonlocal told_s, before
        before = done - 1 if before < 0 else before
        if (now_s := time.monotonic()) - told_s >= EVERY_S:
            told_s = now_s
            left_s = (now_s - begun_s) / max(1, done - before) * (total - done)
            left = f"{left_s / 60:.0f} min" if left_s >= 90 else f"{left_s:.0f} s"
            sys.stderr.write(f"{title}: {done} of {total}{f', about {left} left' if left_s else ''}\n")
            sys.stderr.flush()

    return update


def confirm(plan: Sequence[str], *, yes: bool) -> None:
    """Print the planned changes, and ask whether to continue.

    `yes`: whether --yes was given. Raises BundleError if the answer is no, or if there is no terminal.
    """
    for line in plan:
        say(line)
    if yes:
        return
    answer = ask("Continue? [y/N] ")
    if answer is None:
        raise BundleError("nothing was changed: no terminal to confirm on. Add --yes.")
    if not answer:
        raise BundleError("nothing was changed.")


def ask(question: str) -> bool | None:
    """Ask on the terminal for a yes, on standard error, since the output may go elsewhere; None without a terminal."""
    if not sys.stdin.isatty():
        return None
    sys.stderr.write(visible(question))
    sys.stderr.flush()
    return input().strip().lower() in {"y", "yes"}
