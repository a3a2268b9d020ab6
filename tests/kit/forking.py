"""Runs `run.py` of the kit, given with its arguments, in a warm process that forks the two programs too.

A fork takes a tenth of the interpreter that `run.py` would start for each.
"""

import os
import runpy
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

CHANGED: Any = subprocess


def run(script: str, *arguments: str) -> None:
    """Be the script, as `python3 SCRIPT ARGUMENTS` would be."""
    sys.argv[:] = [script, *arguments]
    sys.path[0] = str(Path(script).resolve().parent)
    runpy.run_path(script, run_name="__main__")


def fork(call: list[str], **_: object) -> None:
    """Stand in for `subprocess.run`; `run.py` asks for no exit code."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        try:
            run(*call[1:])
        except SystemExit:
            pass
        except BaseException:  # noqa: BLE001 - what an interpreter does at its end
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(0)  # not the end of the process that was forked, with its temporary folders
    os.waitpid(child, 0)


if __name__ == "__main__":
    CHANGED.run = fork
    run(*sys.argv[1:])
