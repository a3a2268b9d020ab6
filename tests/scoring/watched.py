"""Scores a run and keeps what a kill would leave at each step: python3 watched.py STATES INPUT OUTPUT.

SIGKILL leaves what is on the disk at that moment, and nothing more is done. So STATES gets a copy of the output folder
before each thing that is done there (a file made, opened, renamed, removed), one with each file that was only just
opened, and one with half of each file that was written.
"""

import os
import shutil
import sys
from pathlib import Path

from tests import ROOT

PROGRAM = ROOT / "scoring_program"
DONE_TO_FILES = {"open", "os.mkdir", "os.remove", "os.rename"}


def main() -> int:
    """Score, and look."""
    states, source, target = (Path(word) for word in sys.argv[1:])
    number, looking, opened = 0, False, target

    def look() -> Path:
        nonlocal number, looking
        number, looking = number + 1, True
        state = states / f"{number:03}"
        state.mkdir(parents=True)
        if target.exists():
            shutil.copytree(target, state, dirs_exist_ok=True)
        looking = False
        return state

    def hear(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal opened
        if not looking and event in DONE_TO_FILES and str(arguments[0]).startswith(str(target)):
            look()
            opened = Path(str(arguments[0]))
            if event == "open" and int(str(arguments[2])) & (os.O_WRONLY | os.O_RDWR):
                (look() / opened.name).write_bytes(b"")

    def half_written(file: int) -> None:
        os.truncate(look() / opened.name, os.fstat(file).st_size // 2)

    sys.addaudithook(hear)
    os.fsync = half_written  # type: ignore[assignment]
    sys.path.insert(0, str(PROGRAM))
    from score.pipeline import main as score  # noqa: PLC0415 - the path comes first

    return score([str(source), str(target)])


if __name__ == "__main__":
    sys.exit(main())
