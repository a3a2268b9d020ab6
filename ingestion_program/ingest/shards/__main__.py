"""Plan and merge a run in shards, or run one of them: what `bundle evaluate` and `bundle shard` start.

Usage: python3 -m ingest.shards plan PLAN INPUT_DATA OUTPUT PROGRAM SUBMISSION
       python3 -m ingest.shards run SHARD INPUT_DATA OUTPUT SUBMISSION

The first line of standard input is a JSON object with what must not be written down: the key. When standard input ends,
so does this program: whoever started it is gone. Exit codes: 0 to 2 as ingestion.py, 3 if shards must be run first.
"""

import json
import os
import sys
from pathlib import Path
from threading import Thread
from typing import Any

from ingest.confined.guard import end_descendants
from ingest.errors import IngestionError, Problem, disk_full
from ingest.log import say, speak_utf8
from ingest.packages import PackagesMissing, provide
from ingest.record.folder import NO_ROOM
from ingest.start import MODULES, ORGANISER_ERROR, PROGRAM

LOST = 75


def main(arguments: list[str]) -> int:
    """Do one step; return the exit code."""
    speak_utf8()
    os.umask(0o022)
    what, *paths = arguments
    order: dict[str, Any] = json.loads(sys.stdin.readline())
    Thread(target=_end_with_parent, daemon=True).start()
    try:
        return _do(what, [Path(path) for path in paths], order, provide(PROGRAM, MODULES))
    except PackagesMissing as error:
        say(f"[shards] {error}")
    except IngestionError as error:
        for problem in error.problems:
            say(f"[shards] {problem.line()}")
    except OSError as error:
        where = error.filename or "this machine"
        found = f"{error.strerror or error}"
        other = Problem("output_closed", "run", where, found, "files that can be read and written", "repair the worker")
        say(f"[shards] {(disk_full(where) if error.errno in NO_ROOM else other).line()}")
    return ORGANISER_ERROR


def _do(what: str, paths: list[Path], order: dict[str, Any], packages: Path | None) -> int:
    """Import late: without packages, none of it can be imported."""
    key, facts = bytes.fromhex(order["key"]), order["facts"]
    if what == "plan":
        from ingest.shards import plan  # noqa: PLC0415

        cut = plan.Order(key, facts, order["workers"], order["clips"])
        places = ("plan", "input_data", "output", "program", "submission")
        return plan.step(**dict(zip(places, paths, strict=True)), order=cut)
    from ingest.shards import run  # noqa: PLC0415

    shard, input_data, output, submission = paths
    run.run_shard(
        shard=shard, input_data=input_data, output=output, submission=submission,
        packages=packages, order=run.Order(key, facts),
    )  # fmt: skip
    return 0


def _end_with_parent() -> None:
    while os.read(0, 1 << 10):  # `sys.stdin` would hold a lock that the interpreter needs at its end
        pass
    end_descendants()
    os._exit(LOST)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
