import os
from pathlib import Path


def make(folder: Path) -> None:
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff\xfe.txt")).touch()
