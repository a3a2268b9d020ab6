"""Runs `kit.py`, given with its arguments, in a warm process that forks the two programs too.

A fork takes a tenth of the interpreter that `kit.py` would start for each.
"""

import os
import runpy
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path


def be(script: Path, *arguments: object) -> None:
    """Be the script, as `python3 SCRIPT ARGUMENTS` would be."""
    sys.argv[:] = [str(script), *map(str, arguments)]
    sys.path[0] = str(script.resolve().parent)
    runpy.run_path(str(script), run_name="__main__")


def lines_of(script: Path, *arguments: Path) -> Iterator[str]:
    """Stand in for `runs.lines_of`."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if not child:
        for stream in (1, 2):
            os.dup2(writing, stream)
        sys.stdout = sys.stderr = os.fdopen(writing, "w", encoding="utf-8")
        try:
            be(script, *arguments)
        except SystemExit:
            pass
        except BaseException:  # noqa: BLE001 - what an interpreter does at its end
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(0)  # not the end of the process that was forked, with its temporary folders
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as printed:
        yield from (line.rstrip("\n") for line in printed)
    os.waitpid(child, 0)


if __name__ == "__main__":
    kit = Path(sys.argv[1])
    sys.path[0] = str(kit.resolve().parent)
    import runs

    runs.lines_of = lines_of
    be(kit, *sys.argv[2:])
