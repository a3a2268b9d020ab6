"""Runs inside the container: ingestion on one case after another, and a look at what each leaves behind.

Usage: driver.py FOLDER. Each folder below it is a stage (tests/hostile/stage.py); `result.json` is written into it.
Beside this file lies `tests`, with `warm.py` and `compiled.py` alone.
"""

import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests import warm

HANGS_S = 300


def run(app: Path) -> None:
    """Run ingestion on one stage."""
    arguments = [str(app / name) for name in ("input_data", "output", "program", "ingested_program")]
    environment = {**os.environ, "HOME": str(app / "home"), "TMPDIR": str(app / "tmp"), "PYTHONDONTWRITEBYTECODE": "1"}
    environment["CANARY"] = "canary-of-the-environment"
    ended = warm.start(app / "program" / "ingestion.py", arguments, cwd=app / "work", environment=environment).wait(
        HANGS_S
    )
    result = {
        "exit_code": ended.code,
        "printed": ended.printed,
        "strangers": strangers(os.fsencode(app) + b"/"),
    }
    (app / "result.json").write_text(json.dumps(result))


def strangers(marker: bytes) -> list[str]:
    """Name processes that came from one stage and are still there."""
    deadline = time.monotonic() + 2
    while True:
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                words = (process / "cmdline").read_bytes()
                state = (process / "stat").read_text().rpartition(")")[2].split()[0]
                if state != "Z" and marker in words + (process / "environ").read_bytes():
                    found.append(f"{process.name} {words!r}")
            except OSError:
                continue
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(0.1)


if __name__ == "__main__":
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run, sorted(path for path in Path(sys.argv[1]).iterdir() if path.is_dir())))
