"""What ingestion lends to models: blocks of memory, files, threads. Who takes too much is charged, nobody else."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ingest.capacity import OWN_DESCRIPTORS, PROCESS_DESCRIPTORS
from ingest.media.frame_server import DESCRIPTORS
from tests import ROOT
from tests.deep import nested_folders
from tests.ingestion.conftest import ONCE, PROGRAM, Outcome, model_source, run_program, run_script, write_phase
from tests.ingestion.test_sandbox import linux

LARGE = "(1600, 1200 - number)"
"""Eight frames of it are the largest block; each reading needs another one."""
# Keeps the descriptor of each block, as the program for models does not.
KEEPS = f"""
        import os
        kept, receive = [], clip._connection._receive
        def receives():
            message = receive()
            if message.descriptor is not None:
                kept.append(os.dup(message.descriptor))
            return message
        clip._connection._receive = receives
        for number in range(30 if clip.transcript else 0):
            next(clip.frames(size={LARGE}))
"""
# Asks for very large blocks and gives their frames back, but receives nothing: a few, since messages fill a queue.
DEAF = """
        import time
        from wire import message, send
        for number in range(12 if clip.transcript else 0):
            request = dict(count=None, fps=None, start_s=0.0, end_s=None, size=[4000, 4000 - number])
            send(message({"op": "frames", "stream": number, "request": request}))
            time.sleep(0.5)
            # Only then all frames that it was told of can be given back: afterwards it is told of no others.
            send(message({"op": "free", "slots": [], "left": [number]}))
            send(message({"op": "free", "slots": [[number, slot] for slot in range(8)], "left": []}))
"""


def run_model(predict: str, clip: Path, folder: Path, **limits: object) -> Outcome:
    write_phase(folder / "input", [clip] * 3, {**ONCE, "limits": {**ONCE["limits"], **limits}})
    (folder / "submission").mkdir()
    (folder / "submission" / "model.py").write_text(model_source(predict=predict.strip()))
    shutil.copy(ROOT / "tests" / "hostile" / "wire.py", folder / "submission")
    return run_program(folder / "input", folder / "submission", folder / "output")


@linux
@pytest.mark.parametrize("predict", [KEEPS, DEAF], ids=["keeps descriptors", "receives nothing"])
def test_blocks_that_are_not_given_back_count_as_memory(predict: str, numbered_clip: Path, tmp_path: Path) -> None:
    outcome = run_model(predict, numbered_clip, tmp_path, memory_mb=256)
    assert outcome.clip_codes(0) == ["too_much"], outcome.printed
    assert "MB of memory" in outcome.printed
    assert outcome.clip_codes(1) == outcome.clip_codes(2) == []


# Keeps many small readings under way.
SMALL = """
        kept = [clip.frames(count=1, start_s=number / 200, size=(16, 16 + number)) for number in range(62)]
        first = [next(frames) for frames in kept]
"""
FEW_FILES = """\
import resource, sys
sys.path.insert(0, {program!r})
from ingest.start import main

resource.setrlimit(resource.RLIMIT_NOFILE, {limit})
sys.exit(main({folders!r}, ""))
"""


@linux
def test_models_side_by_side_share_the_files_that_a_process_may_open(numbered_clip: Path, tmp_path: Path) -> None:
    limits = {**ONCE["limits"], "workers": 4, "restarts": 9}
    write_phase(tmp_path / "input", [numbered_clip] * 12, {**ONCE, "limits": limits})
    (tmp_path / "submission").mkdir()
    (tmp_path / "submission" / "model.py").write_text(model_source(predict=SMALL.strip()))
    folders = [str(tmp_path / name) for name in ("input", "output", "program", "submission")]
    hard = OWN_DESCRIPTORS + 2 * (DESCRIPTORS + PROCESS_DESCRIPTORS)
    script = FEW_FILES.format(program=str(PROGRAM), folders=folders, limit=(256, hard))
    code, printed = run_script(tmp_path, script)
    outcome = Outcome(code, tmp_path / "output", printed)
    assert "for the organisers" not in printed
    assert (code, outcome.json("run.json")["clips"]["ok"]) == (0, 12), printed
    assert outcome.json("run.json")["workers"] == 2


FEW_LEFT = """\
import os, resource, sys
sys.path.insert(0, {program!r})
from pathlib import Path
from ingest import confine

resource.setrlimit(resource.RLIMIT_NOFILE, (48, 48))
opened = []
confine.shutil.rmtree = lambda *_, **__: opened.append(1)
confine.remove(Path({folder!r}))
assert not opened and not os.path.exists({folder!r})
"""


def test_deep_folders_are_removed_with_few_files_open(tmp_path: Path) -> None:
    """Python would keep one open for each level, and a thousand of them are what a process may have."""
    (tmp_path / "scratch").mkdir()
    with nested_folders(tmp_path / "scratch", 900):
        code, printed = run_script(tmp_path, FEW_LEFT.format(program=str(PROGRAM), folder=str(tmp_path / "scratch")))
        assert code == 0, printed


# Ingestion that lacks something when it looks at the second clip again, or checks what was answered to it.
RUNS_OUT = """\
import sys
sys.path.insert(0, {program!r})
from ingest import data, model, workers
from ingest.media import alteration
from ingest.start import main

calls, read, hash_file, check = [], alteration.read_facts, data.hash_file, model.check_prediction

def read_facts(path):
    calls.append(1)
    if {unread} and len(calls) == 2:
        raise workers.UnreadableClip("no more descriptors")
    return read(path)

def runs_out(original):
    def run(*arguments):
        if len(calls) == 2:
            raise {error}
        return original(*arguments)
    return run

alteration.read_facts, data.hash_file, model.check_prediction = read_facts, runs_out(hash_file), runs_out(check)
sys.exit(main({folders!r}, ""))
"""


@pytest.mark.parametrize("unread", [True, False], ids=["decoding", "checking"])
@pytest.mark.parametrize("error", ["OSError(24, 'files')", "OSError(23, 'files')", "MemoryError"])
def test_what_ingestion_lacks_while_a_model_lives_is_the_models_fault(
    error: str, numbered_clip: Path, tmp_path: Path, *, unread: bool
) -> None:
    write_phase(tmp_path / "input", [numbered_clip] * 3, ONCE)
    (tmp_path / "submission").mkdir()
    (tmp_path / "submission" / "model.py").write_text(model_source())
    folders = [str(tmp_path / name) for name in ("input", "output", "program", "submission")]
    ended, printed = run_script(
        tmp_path, RUNS_OUT.format(program=str(PROGRAM), folders=folders, error=error, unread=unread)
    )
    outcome = Outcome(ended, tmp_path / "output", printed)
    assert ended == 0, printed
    assert [line["status"] for line in outcome.lines("clips.jsonl")] == ["ok", "failed", "ok"]
    assert outcome.clip_codes(1) == ["too_much"]
    assert "for the organisers" not in printed


FEW_THREADS = """\
import sys, threading
sys.path.insert(0, {program!r})
from ingest.start import main

start = threading.Thread.start

def starts(thread):
    if threading.active_count() == 5:
        raise RuntimeError("can't start new thread")
    start(thread)

threading.Thread.start = starts
sys.exit(main({folders!r}, ""))
"""


def test_a_run_ends_where_there_are_too_few_threads_for_ingestion(phase: Path, tmp_path: Path) -> None:
    """Threads that wait for others, which cannot be started, would keep the program from ending."""
    (tmp_path / "submission").mkdir()
    (tmp_path / "submission" / "model.py").write_text(model_source())
    folders = [str(phase), *(str(tmp_path / name) for name in ("output", "program", "submission"))]
    script = FEW_THREADS.format(program=str(PROGRAM), folders=folders)
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert (ended.returncode, "can't start new thread" in ended.stdout) == (2, True)
