"""Odd machines, such as one whose disk is full: whose fault it is, and what is recorded all the same."""

import ctypes
import errno
import mmap
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

import pytest
import yaml

from ingest import limits
from ingest.codes import Stage
from ingest.confine import ProcessGroup
from ingest.confined import ConfinedProcess, Confinement
from ingest.errors import Problem
from ingest.media.buffers import LARGEST_BLOCK, FrameBuffer
from ingest.model import LoadFailed, ModelProcess
from ingest.record import append, open_private, publish
from ingest.settings import Isolation, Limits
from model_process.protocol import ChannelClosed
from tests import warm
from tests.ingestion.conftest import ONCE, PROGRAM, SETTINGS, Outcome, model_source, run_program, write_phase

DISK_MB = 96
KEY = "5e" * 32
FILLS = """\
import time
from pathlib import Path
from threading import Thread


def fill():
    try:
        for number in range({count}):
            Path({folder!r}, f"file {{number}}").write_bytes(bytes({size}))
    except OSError:
        pass
    time.sleep(5)



class Model:
    def __init__(self, assets):
        pass

    def predict(self, clip):
        if clip.transcript and {folder!r}:
            thread = Thread(target=fill)
            thread.start()
            if {waits}:
                thread.join()
        return {{"warmth": 0.25, "interview": 0.75}}

    def explain(self, clip, prediction):
        return {{"text": "A text that is long enough to count."}}
"""


@contextmanager
def small_disk(folder: Path, limit: str = f"size={DISK_MB}m") -> Iterator[Path]:
    """Mount a disk of its own."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root mounts a disk")
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", limit, "tmpfs", str(folder)], capture_output=True, check=False)
    if done.returncode != 0:
        pytest.skip("this machine mounts nothing")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small disk for the output and for temporary files."""
    with small_disk(tmp_path / "disk") as folder:
        (folder / "tmp").mkdir()
        yield folder


def run_on(
    disk: Path,
    clip: Path,
    filled: str = "",
    level: str = "full",
    *,
    waits: bool = True,
    count: int = 200,
    size: int = 1 << 20,
) -> Outcome:
    """Run a model that fills a folder with files on its second clip."""
    root = disk.parent
    phase = write_phase(root / "input", [clip] * 3, {**SETTINGS, "isolation": {"at_most": level}})
    (phase / "transcripts.json").write_text('{"c001": "now"}')
    (root / "submission").mkdir()
    (root / "submission" / "model.py").write_text(FILLS.format(folder=filled, waits=waits, count=count, size=size))
    (root / "program").mkdir()
    (root / "program" / "seal.key").write_text(KEY)
    variables = {**os.environ, "TMPDIR": str(disk / "tmp")}
    folders = (phase, disk / "output", root / "program", root / "submission")
    ended = warm.run(PROGRAM / "ingestion.py", folders, environment=variables, bare_root=True)
    return Outcome(ended.code, disk / "output", ended.printed)


def test_a_disk_that_a_model_fills_costs_its_clip(disk: Path, numbered_clip: Path) -> None:
    outcome = run_on(disk, numbered_clip, ".")
    assert outcome.exit_code == 0, outcome.printed
    assert [line["status"] for line in outcome.lines("clips.jsonl")] == ["ok", "failed", "ok"]
    assert outcome.clip_codes(1) == ["too_much"]
    assert "for the organisers" not in outcome.printed
    assert outcome.json("manifest.json")["seal"]
    assert list((disk / "tmp").iterdir()) == []


def test_a_disk_that_holds_no_more_files_costs_a_clip(tmp_path: Path, numbered_clip: Path) -> None:
    with small_disk(tmp_path / "disk", "nr_inodes=2000") as disk:
        (disk / "tmp").mkdir()
        outcome = run_on(disk, numbered_clip, ".", count=3000, size=0)
        assert outcome.exit_code == 0, outcome.printed
        assert outcome.clip_codes(1) == ["too_much"]
        assert outcome.json("manifest.json")["seal"]


def test_a_record_waits_for_the_end_of_whoever_has_filled_the_disk(disk: Path) -> None:
    with (disk / "others").open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, (DISK_MB << 20) - os.sysconf("SC_PAGE_SIZE"))
    Timer(0.2, (disk / "others").unlink).start()
    append(disk / "record", "x" * 100_000)
    assert (disk / "record").stat().st_size == 100_000


def test_a_record_waits_for_descriptors_that_will_be_free_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [OSError(errno.EMFILE, "too many"), (tmp_path / "record").open("ab", 0)]

    def opened(*_: object, **__: object) -> object:
        answer = answers.pop(0)
        if isinstance(answer, OSError):
            raise answer
        return answer

    monkeypatch.setattr(Path, "open", opened)
    append(tmp_path / "record", "text")
    monkeypatch.undo()
    assert (tmp_path / "record").read_text() == "text"


def test_a_disk_that_a_model_fills_while_answers_are_recorded_costs_no_run(disk: Path, numbered_clip: Path) -> None:
    outcome = run_on(disk, numbered_clip, ".", waits=False)
    assert outcome.exit_code == 0, outcome.printed
    assert outcome.json("run.json")["clips"]["ok"] >= 1
    assert "for the organisers" not in outcome.printed
    assert outcome.json("manifest.json")["seal"]


def test_a_disk_that_others_fill_is_not_its_fault(disk: Path, numbered_clip: Path) -> None:
    outcome = run_on(disk, numbered_clip, str(disk), "basic")
    assert outcome.exit_code == 2, outcome.printed
    assert outcome.run_codes() == ["disk_full"]
    assert outcome.json("manifest.json")["seal"]


def test_a_disk_that_is_full_is_told_in_one_line(disk: Path, numbered_clip: Path) -> None:
    with (disk / "others").open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, (DISK_MB - 2) << 20)
    outcome = run_on(disk, numbered_clip)
    assert outcome.exit_code == 2
    (line,) = outcome.printed.splitlines()
    assert "output_closed" in line
    assert "No space left on device" in line


def test_an_output_that_is_read_only_is_told_in_one_line(disk: Path, numbered_clip: Path) -> None:
    (disk / "output").mkdir()
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    outcome = run_on(disk, numbered_clip)
    assert outcome.exit_code == 2
    (line,) = outcome.printed.splitlines()
    assert "output_closed" in line
    assert "Read-only file system" in line


DIES_WHILE_LOADING = """\
import os
from pathlib import Path

{model}
if {always} or not Path({mark!r}).exists():
    Path({mark!r}).touch()
    os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize(("always", "exit_code", "codes"), [(False, 0, ["answers_equal"]), (True, 1, ["crashed"])])
def test_a_model_that_is_killed_while_it_loads_is_loaded_once_more(
    always: bool, exit_code: int, codes: list[str], phase: Path, tmp_path: Path
) -> None:
    shutil.copytree(phase, tmp_path / "input")
    (tmp_path / "input" / "task.yaml").write_text(yaml.safe_dump({**ONCE, "isolation": {"at_most": "basic"}}))
    submission = tmp_path / "submission"
    submission.mkdir()
    source = DIES_WHILE_LOADING.format(model=model_source(), always=always, mark=str(tmp_path / "mark"))
    (submission / "model.py").write_text(source)
    outcome = run_program(tmp_path / "input", submission, tmp_path / "output")
    assert outcome.exit_code == exit_code, outcome.printed
    assert outcome.run_codes() == codes
    assert outcome.json("run.json")["restarts"] == 0


class Dying:
    """A process that something ends each time while the model is loaded."""

    killed = True

    def __init__(self) -> None:
        self.allowed: list[float] = []

    def start(self, *, again: bool = False) -> None: ...

    def stop(self) -> None: ...

    def allow(self, timeout_s: float) -> None:
        self.allowed.append(timeout_s)

    def check_sandbox(self) -> None:
        time.sleep(0.01)
        raise ChannelClosed

    def end_badly(self, error: Exception, stage: Stage, where: str, timeout_s: float) -> Problem:
        return Problem("crashed", stage, where, "x", "y", "z")


def test_both_loads_share_the_time_of_one(tmp_path: Path) -> None:
    model = ModelProcess(tmp_path, None, Limits(60, 20, 20, 2), Isolation())
    model.process = dying = Dying()  # type: ignore[assignment]
    with pytest.raises(LoadFailed):
        model.start(5)
    first, second = dying.allowed
    assert first == 5
    assert second <= 5 - 0.01


MASKED = """\
import os, sys
sys.path.insert(0, {program!r})
from ingest.start import main

os.umask(0o777)
sys.exit(main({folders!r}, ""))
"""


def test_what_is_written_can_be_read_whatever_the_worker_masks(phase: Path, tmp_path: Path) -> None:
    submission = tmp_path / "submission"
    submission.mkdir()
    (submission / "model.py").write_text(model_source())
    folders = [str(path) for path in (phase, tmp_path / "output", PROGRAM, submission)]
    (tmp_path / "masked.py").write_text(MASKED.format(program=str(PROGRAM), folders=folders))
    ended = warm.run(tmp_path / "masked.py", bare_root=True)
    assert ended.code == 0, ended.printed
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "output").glob("*.*")} == {0o644}


def test_a_key_that_cannot_be_removed_is_told_in_a_sealed_record(phase: Path, tmp_path: Path) -> None:
    program, submission = tmp_path / "program", tmp_path / "submission"
    submission.mkdir()
    (submission / "model.py").write_text(model_source())
    program.mkdir()
    (program / "seal.key").write_text("5e" * 32)
    program.chmod(0o555)
    ended = warm.run(PROGRAM / "ingestion.py", (phase, tmp_path / "output", program, submission), bare_root=True)
    outcome = Outcome(ended.code, tmp_path / "output", ended.printed)
    assert (outcome.exit_code, outcome.run_codes()) == (2, ["seal_key_broken"])
    assert outcome.json("manifest.json")["seal"]


def test_files_without_a_name_count_however_deep_they_were_made(tmp_path: Path) -> None:
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        for _ in range(20):  # longer than a path may be
            os.mkdir("d" * 250, dir_fd=folder)
            deeper = os.open("d" * 250, os.O_RDONLY, dir_fd=folder)
            os.close(folder)
            folder = deeper
        before = limits._unnamed(os.getpid(), tmp_path)
        file = os.open("x", os.O_CREAT | os.O_RDWR, dir_fd=folder)
        os.unlink("x", dir_fd=folder)
        os.pwrite(file, b"x" * (8 << 20), 0)
        after = limits._unnamed(os.getpid(), tmp_path)
        os.close(file)
    finally:
        os.close(folder)
    assert before is not None
    assert after == (before[0] + 8, before[1])


def test_shared_memory_counts_once_whether_open_or_mapped(tmp_path: Path) -> None:
    before = shared_mb(tmp_path)
    descriptor = os.memfd_create("frames")
    os.ftruncate(descriptor, 8 << 20)
    assert shared_mb(tmp_path) == before + 8
    copy = os.dup(descriptor)
    with mmap.mmap(descriptor, 8 << 20), mmap.mmap(-1, 4 << 20):
        assert shared_mb(tmp_path) == before + 12
    os.close(descriptor)
    os.close(copy)
    assert shared_mb(tmp_path) == before


def test_a_page_of_a_block_counts_as_the_block(tmp_path: Path) -> None:
    before = shared_mb(tmp_path)
    buffer = FrameBuffer(1, 8 << 20)
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    page = libc.mmap(None, ctypes.c_size_t(4096), mmap.PROT_READ, mmap.MAP_SHARED, buffer.descriptor, ctypes.c_long(0))
    inode = buffer.inode
    buffer.close()
    del buffer
    assert shared_mb(tmp_path, {inode: 8 << 20}) == before + 8
    libc.munmap(ctypes.c_void_p(page), ctypes.c_size_t(4096))


def test_where_a_system_tells_only_the_whole_memory_that_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "_status", lambda _: {"VmSize": "1 kB", "VmRSS": f"{600 << 10} kB"})
    (tmp_path / "scratch").mkdir()
    with subprocess.Popen(["sleep", "20"], start_new_session=True) as process:
        watch = limits.LimitMonitor(process, tmp_path / "scratch", 64, ProcessGroup())
        assert process.wait() == -signal.SIGKILL
    watch.stop()
    assert watch.reason is not None
    assert watch.reason[:2] == ("600 MB of memory", "at most 64 MB")


def test_blocks_that_nobody_receives_count(tmp_path: Path) -> None:
    before = shared_mb(tmp_path)
    ends = socket.socketpair()
    descriptor = os.memfd_create("frames")
    for _ in range(4):
        socket.send_fds(ends[0], [b"x"], [descriptor])
    # The newest may have been sent just now, and strange ones could be as large as any.
    assert shared_mb(tmp_path) == before + 3 * (LARGEST_BLOCK >> 20)
    lent = {-inode: size << 20 for inode, size in enumerate((7, 100, 200, 5, 300), 1)}
    assert shared_mb(tmp_path, lent) == before + 100 + 200 + 5
    for end in ends:
        end.close()
    os.close(descriptor)


def shared_mb(scratch: Path, lent: dict[int, int] | None = None) -> int:
    found = limits._unnamed(os.getpid(), scratch, lent or {})
    assert found is not None
    return found[1]


@pytest.mark.parametrize("ending", ["killed", "by itself"])
def test_threads_that_take_long_to_die_are_no_excess(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The main thread of a dying process is gone before the others, and what holds much memory dies slowly.
    monkeypatch.setattr(limits, "PERIOD_S", 0.001)
    model = (
        "from threading import Thread; import time; memory = bytearray(1 << 28); "
        "[Thread(target=time.sleep, args=(60,), daemon=True).start() for _ in range(30)]; print(flush=True); "
        "time.sleep(60)"
    )
    for _ in range(5):
        process = ConfinedProcess(Confinement("x", Path("x"), None, memory_mb=4096, cpu_s=1, isolation=Isolation()))
        child = subprocess.Popen([sys.executable, "-c", model], stdout=subprocess.PIPE, start_new_session=True)
        with process._group.starting() as alive:
            alive.add(child.pid)
        process._process, process._watch = child, limits.LimitMonitor(child, tmp_path, 4096, process._group)
        assert child.stdout is not None
        child.stdout.readline()
        if ending == "by itself":
            os.kill(child.pid, signal.SIGABRT)
        problem = process.end_badly(ChannelClosed() if ending == "by itself" else TimeoutError(), "predict", "x", 5)
        child.stdout.close()
        assert problem.code == {"by itself": "crashed", "killed": "timeout"}[ending], problem


def test_a_process_that_does_not_read_keeps_nobody_waiting_twice() -> None:
    ours, theirs = socket.socketpair()
    process = ConfinedProcess(Confinement("x", Path("x"), None, memory_mb=1, cpu_s=1, isolation=Isolation()))
    process._channel = ours
    process.allow(0)  # a second is the least
    with theirs:
        with pytest.raises(TimeoutError):
            for _ in range(10_000):
                process.send({"op": "x" * 1000})
        assert ours.gettimeout() == pytest.approx(1)
        with pytest.raises(ChannelClosed):
            process.send({"op": "x"})
        assert process.end_badly(ChannelClosed(), "predict", "predict", 3).code == "timeout"


def test_a_record_in_a_relative_folder_is_moved_and_what_else_lies_there_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    output = Path("output")
    output.mkdir()
    private = open_private(output)
    for name in (private / "manifest.json", private / "run.json", output / "planted"):
        name.write_text("{}")
    (output / "folder").mkdir()
    publish(private, output)
    assert sorted(path.name for path in output.iterdir()) == ["manifest.json", "run.json"]
