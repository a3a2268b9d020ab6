"""Files written atomically."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside a file, which replaces the file if the block succeeds.

    Until then the old file is kept; if the block fails, nothing is left of the new one.
    """
    unfinished = path.with_name(f".{path.name}.part")
    unfinished.unlink(missing_ok=True)
    try:
        yield unfinished
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
