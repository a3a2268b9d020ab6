"""A tree of folders deeper than any path can say, and than Python can remove by itself."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def nested_folders(root: Path, depth: int) -> Iterator[None]:
    """Put `depth` folders `d` inside each other, a file in the last; remove them afterwards, whatever the test did.

    pytest could not: what it finds left over ends its next runs with an error.
    """
    try:
        here = os.open(root, os.O_DIRECTORY)
        try:
            for _ in range(depth):
                os.mkdir("d", dir_fd=here)
                inner = os.open("d", os.O_DIRECTORY, dir_fd=here)
                os.close(here)
                here = inner
            os.close(os.open("deep.txt", os.O_CREAT | os.O_WRONLY, dir_fd=here))
        finally:
            os.close(here)
        yield
    finally:
        subprocess.run(["rm", "-rf", str(root / "d")], check=True)
