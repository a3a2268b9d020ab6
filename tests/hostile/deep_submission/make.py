import os
from pathlib import Path


def make(folder: Path) -> None:
    here = os.open(folder, os.O_RDONLY)
    for name, depth in (("d", 300), ("e" * 200, 18)):
        below = os.dup(here)
        for _ in range(depth):
            os.mkdir(name, dir_fd=below)
            next_below = os.open(name, os.O_RDONLY, dir_fd=below)
            os.close(below)
            below = next_below
        os.close(os.open("x.txt", os.O_CREAT | os.O_WRONLY, dir_fd=below))
        os.close(below)
    os.close(here)
