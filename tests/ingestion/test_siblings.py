"""Processes side by side: the end of one takes what it has left, and nothing of the others."""

import json
from pathlib import Path

from tests.ingestion.conftest import PROGRAM, run_script
from tests.ingestion.test_sandbox import linux

# Holds one file open and another mapped, starts a process that outlives it, and tells that process's number.
MODEL = """
import mmap, os, sys, time
opened = open("opened-" + sys.argv[1], "w+b")
with open("mapped-" + sys.argv[1], "w+b") as file:
    file.truncate(4096)
    mapped = mmap.mmap(file.fileno(), 4096)
open("closed-" + sys.argv[1], "w").close()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print(os.getpid(), flush=True)
        time.sleep(1e6)
    os._exit(0)
time.sleep(1e6)
"""
INGESTION = """
import json, os, subprocess, sys
from pathlib import Path
sys.path.insert(0, PROGRAM)
from ingest import confine
from ingest.confine import ProcessGroup

confine.harden_process()
confine.SHARED_MEMORY = shared = Path(SHARED)
confine.is_our_own = lambda: True
siblings = ProcessGroup(2)

def start(name):
    with siblings.starting() as alive:
        command = [sys.executable, "-c", MODEL, name]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=shared, start_new_session=True)
        alive.add(process.pid)
    return process, int(process.stdout.readline())

def seen():
    alive = {"helper": helper.poll() is None, "first": first.poll() is None, "second": second.poll() is None}
    alive |= {"orphan": os.path.exists(f"/proc/{orphan}"), "other": os.path.exists(f"/proc/{other}")}
    return [sorted(name for name in alive if alive[name]), sorted(path.name for path in shared.iterdir())]

helper = subprocess.Popen(["sleep", "1000"])  # in the session of this program, like `rm` of a deep folder
(first, orphan), (second, other) = start("1"), start("2")
siblings.end(first)
told = [seen()]
siblings.end(second)
told.append(seen())
helper.kill()
print(json.dumps(told))
"""


@linux
def test_the_end_of_one_takes_what_it_left_and_nothing_of_the_others(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "theirs").touch()
    names = f"PROGRAM, MODEL, SHARED = {str(PROGRAM)!r}, {MODEL!r}, {str(shared)!r}\n"
    code, printed = run_script(tmp_path, names + INGESTION)
    assert code == 0, printed
    # Whose an orphan is nobody can tell: all of them go with the first.
    after_one, after_all = json.loads(printed.splitlines()[-1])
    assert after_one == [["helper", "second"], ["mapped-2", "opened-2", "theirs"]]
    assert after_all == [["helper"], ["theirs"]]
