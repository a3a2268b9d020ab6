"""Files written atomically."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """Return a free place beside a file to write it anew; it takes the file's place when the block ends well.

    Until then the old file stays; if the block does not end well, nothing else does.
    """
    unfinished = path.with_name(f".{path.name}.part")
    unfinished.unlink(missing_ok=True)
    try:
        yield unfinished
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
