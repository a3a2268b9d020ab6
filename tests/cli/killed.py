"""Ingestion that ends itself by SIGKILL at a named place: killed.py MODULE FUNCTION CALL INGESTION FOLDER...

MODULE is one of `ingest`; just before the given call of its FUNCTION, counted from 1, nothing more happens.
"""

import importlib
import os
import runpy
import signal
import sys
from functools import reduce
from pathlib import Path
from typing import Any

module, name, call = sys.argv[1], sys.argv[2], int(sys.argv[3])
del sys.argv[:4]
sys.path[0] = str(Path(sys.argv[0]).parent)
owner: Any = importlib.import_module(f"ingest.{module}")
*parents, function = name.split(".")
owner = reduce(getattr, parents, owner)
original = getattr(owner, function)
calls: list[int] = []


def dies(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401 - whatever the function takes
    """Be the function, until the call that is meant."""
    calls.append(1)
    if len(calls) == call:
        os.kill(os.getpid(), signal.SIGKILL)
    return original(*arguments, **named)


setattr(owner, function, dies)
runpy.run_path(sys.argv[0], run_name="__main__")
