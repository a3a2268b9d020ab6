"""System calls by lot from inside the sandbox: does anything of it show outside?  fuzz_calls.py PLAN

Child after child confines itself as a model process does, makes the calls that were drawn for it, and dies. Before and
after each it is looked at all that must not change. What did change is narrowed down to the call that did it.
"""

import contextlib
import ctypes
import fcntl
import gc
import json
import mmap
import os
import random
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

if __name__ == "__main__":
    ROOT = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(ROOT), str(ROOT / "ingestion_program")]

from model_process.sandbox import SandboxPolicy, calls, enter_sandbox, kernel, landlock, seccomp  # noqa: F401 - not once a child
from model_process.sandbox.syscalls import this_machine
from tests.hostile import traces

NUMBERS = getattr(this_machine(), "numbers", {})
NAMES = {number: name for name, number in NUMBERS.items()}
X32 = 0x40000000
SIZES = (0, 1, 3, 8, 16, 24, 64, 4095, 4096, 1 << 16, 1 << 20, 32 << 20, 1 << 30, 1 << 40, (1 << 63) - 1)
# Flags, attributes and versions of files, freezing, cloning, owners of signals; leases and notices, pipes' sizes.
COMMANDS = (0x40086602, 0x40046602, 0x401C5820, 0x40087602, 0xC0045877, 0x40049409, 0x8901, 1024, 1026, 1031)
CALLS = 60
"""How many a child makes, if it lives so long."""
MEMORY_MB, FRAMES_MB = 256, 128
TYPICAL = {"mmap": (0, 1 << 20, 3, 0x21, -1, 0), "fallocate": (5, 1, 0, 32 << 20, 0, 0)}
"""Arguments that must fit together, which a lot rarely brings; each is drawn all the same every other time."""
AIMED = {
    1: """
        kill tkill tgkill prlimit64 sched_setaffinity sched_setscheduler sched_setparam sched_setattr migrate_pages
        move_pages rt_sigqueueinfo rt_tgsigqueueinfo pidfd_open process_vm_readv process_vm_writev setpgid
    """,
    6: "setpriority ioprio_set ptrace kcmp",
}
"""How many arguments may name a process -> calls that do: they are given none but ours."""
ROOM_MB = 4
"""Beyond a file's length: ext4 takes some for a write that fails, which is in its blocks, and is counted there."""
FILES = ("clips/c000.mp4", "output/predictions.csv", "submission/model.py", "outside/secret")
SHARED_MEMORY = "/dev/shm"  # noqa: S108 - the system's
STRANGER = 0x57A46E
"""Stands for the process id of the stranger, which changes."""
HARMLESS = ("eventfd", "eventpoll", "signalfd", "timerfd")
"""What a descriptor without a file may be."""
MOST = 12
"""Findings, after which the search ends."""
TALLY = 64
Call = tuple[int, ...]
"""Number and six arguments."""


@dataclass(frozen=True)
class Plan:
    """What is tried."""

    folder: str
    """New; everything lies in it."""
    level: str
    """The sandbox."""
    landlock: int
    """The newest version of Landlock that is used."""
    seed: int
    """Of the lot."""
    children: int
    """How many."""
    seconds: float
    """Goes on for at least so long."""
    opened: tuple[str, ...] = ()
    """Calls that pass the filter for once, and the only ones that are made: does anybody notice?"""


class Fuzz:
    """Everything that a child could reach, and a look at it."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.stage, self.scratch = Path(plan.folder) / "stage", Path(plan.folder) / "box" / "scratch"
        self.lot = random.Random(plan.seed)  # noqa: S311 - no secret
        self.mark = f"fie-fuzz-{os.getpid()}"
        # How far a child has got, and which calls ever succeeded; what the arguments point to.
        self.shared = mmap.mmap(-1, 1 << 13)
        self.memory = mmap.mmap(-1, 1 << 18, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.frames = os.memfd_create("frames", os.MFD_ALLOW_SEALING)
        os.truncate(self.frames, 1 << 16)
        fcntl.fcntl(self.frames, fcntl.F_ADD_SEALS, 0x10 | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
        self.inherited = _shared_maps()
        self.stranger, self.cores = 0, os.sched_getaffinity(0)
        self.labels = self._fill()
        rules = {**calls.rules(0, 7 if plan.level == "full" else 0), **dict.fromkeys(plan.opened, ())}
        passing = [name for name, rule in rules.items() if isinstance(rule, tuple) and name in NUMBERS]
        self.passing = [NUMBERS[name] for name in plan.opened or passing]
        self.found: list[str] = []
        self.made = 0
        self._lay_out()

    def search(self) -> None:
        """Run children as planned; fills `found`."""
        gc.freeze()
        ending, number = time.monotonic() + self.plan.seconds, 0
        while (number < self.plan.children or time.monotonic() < ending) and len(self.found) < MOST and self.passing:
            drawn = [self._draw() for _ in range(CALLS)]
            if reasons := self._run(drawn):
                self.found.append(f"seed {self.plan.seed}, child {number}: {self._narrow(drawn, reasons)}")
            number += 1
        self._end_stranger()

    def succeeded(self) -> list[str]:
        """Name the calls that did not fail at least once."""
        return [name for name, number in NUMBERS.items() if self.shared[TALLY + number]]

    def _narrow(self, drawn: list[Call], reasons: list[str]) -> str:
        """Return what was seen, and the first call with which it is seen."""
        low, high = 0, len(drawn)
        self._lay_out()
        while high - low > 1:
            middle = (low + high) // 2
            if again := self._run(drawn[:middle]):
                high, reasons = middle, again
                self._lay_out()
            else:
                low = middle
        last = drawn[high - 1]
        if high == len(drawn) and not self._run(drawn):
            return f"{'; '.join(reasons)}; not seen again, by {[self._told(call) for call in drawn]}"
        self._lay_out()
        # Not looked for again: what else there is would drown in it.
        self.passing = [number for number in self.passing if number != last[0]]
        return f"{self._told(last)} after {high - 1} others: {'; '.join(reasons)}"

    def _told(self, call: Call) -> str:
        texts = [self.labels.get(word, hex(word) if abs(word) > 4096 else str(word)) for word in call[1:]]
        return f"{NAMES.get(call[0], hex(call[0]))}({', '.join(texts)})"

    def _draw(self) -> Call:
        """Return a call: mostly one that passes the filter, with the right arguments at least."""
        kind, number = self.lot.random(), self.lot.choice(self.passing)
        if not self.plan.opened and kind < 0.3:
            number = self.lot.choice([*NAMES, self.lot.randrange(470, 1024), self.lot.getrandbits(32)])
            number |= X32 if kind < 0.05 else 0
        name = NAMES.get(number, "")
        drawn = [self._argument() for _ in range(6)]
        for count, names in AIMED.items():
            if name in names.split():
                drawn[:count] = self.lot.choices([0, os.getpid(), STRANGER, -STRANGER], k=count)
        return (number, *(self.lot.choice(pair) for pair in zip(TYPICAL.get(name, drawn), drawn, strict=True)))

    def _argument(self) -> int:
        kind = self.lot.random()
        if kind < 0.35:
            return self.lot.choice([*self.labels])
        if kind < 0.6:
            return self.lot.randrange(13)
        if kind < 0.75:
            return sum(1 << bit for bit in self.lot.sample(range(21), self.lot.randrange(1, 4)))
        if kind < 0.88:
            return self.lot.choice(SIZES)
        pid = self.lot.choice([os.getpid(), STRANGER, -STRANGER])
        return self.lot.choice([-1, -100, pid, self.lot.choice(COMMANDS), self.lot.getrandbits(64) - (1 << 63)])

    def _fill(self) -> dict[int, str]:
        """Write paths, names and structures into the memory; return address -> what lies there."""
        start = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        page, zeros = start + (1 << 17), start + (1 << 16)
        own = f"/proc/{os.getpid()}"
        names = [f"{self.stage}/{name}" for name in (*FILES, "output", "new")]
        # Nothing that is not ours, and no way up: where there is a hole, only the stage may suffer.
        names += [f"{SHARED_MEMORY}/{self.mark}", f"{own}/oom_score_adj", f"{own}/mem", "/proc/self/mem"]
        names += ["../../stage/new", "", self.mark, "user.mark", "own", "folder", "other"]
        words = [(page, 4096), (1, 1), (0, 1000), (0, 0), (-1, -1), (0x40,), (page, 64, page, 64)]
        texts = [name.encode() for name in names]
        texts += [b"".join(word.to_bytes(8, "little", signed=True) for word in group) for group in words]
        for place, text in enumerate(texts):
            self.memory[place << 8 : (place << 8) + len(text)] = text
        told = [*map(repr, names), *map(str, words)]
        return {start + (place << 8): text for place, text in enumerate(told)} | {zeros: "zeros", page: "page"}

    def _lay_out(self) -> None:
        """Put everything where it belongs, as new."""
        self._renew(self.stage)
        for name in FILES:
            (self.stage / name).parent.mkdir(parents=True)
            (self.stage / name).write_bytes(name.encode() * 400)
        os.sched_setaffinity(0, self.cores)
        self._end_stranger()
        self.stranger = os.fork()
        if not self.stranger:
            kernel.kill_on_parent_exit(os.getppid())
            os.closerange(0, 64)
        while not self.stranger:
            signal.pause()
        while _state(self.stranger) != "S":
            time.sleep(0.001)
        self._renew(self.scratch)
        self.before = self._outside()

    def _end_stranger(self) -> None:
        if self.stranger:
            with contextlib.suppress(OSError):
                os.kill(self.stranger, signal.SIGKILL)
                os.waitpid(self.stranger, 0)

    def _renew(self, folder: Path) -> None:
        """Make an empty folder, whatever is there."""
        shutil.rmtree(folder, ignore_errors=True)
        try:
            folder.mkdir(parents=True)
        except OSError:
            # A child has taken rights away.
            subprocess.run(["chmod", "-R", "u+rwX", folder.parent], check=True)
            shutil.rmtree(folder)
            folder.mkdir()

    def _outside(self) -> dict[str, str]:
        """Return how all looks that no child may touch."""
        files = {str(path): _look_at(path) for path in [self.stage, *self.stage.rglob("*")]}
        seals = fcntl.fcntl(self.frames, fcntl.F_GET_SEALS), os.fstat(self.frames).st_size
        files["frames"] = f"{seals} {any(os.pread(self.frames, 1 << 17, 0))}"
        return files | {"stranger": _outline(self.stranger) + _state(self.stranger), "parent": _outline(os.getpid())}

    def _run(self, drawn: list[Call]) -> list[str]:
        """Let a child make calls; return what must not be, while it lives and after its end."""
        self.shared[:1] = bytes(1)
        kept = set(_ipc())
        pid = os.fork()
        family = {"", str(pid)}
        if pid == 0:
            try:
                self._be_child(drawn)
            finally:
                os._exit(1)
        reasons = list(self._follow(pid))
        if not self.shared[0]:
            raise RuntimeError("a child was not confined as planned")
        self.made += min(self.shared[0], len(drawn))
        with contextlib.suppress(ChildProcessError):
            while other := next((child for child in _children() if child != self.stranger), 0):
                reasons.append("a process was left")
                family.add(str(other))
                os.kill(other, signal.SIGKILL)
                os.waitpid(other, 0)
        now = self._outside()
        every = sorted(self.before.keys() | now.keys())
        reasons += [f"{name} is other" for name in every if self.before.get(name) != now.get(name)]
        for parent, folders, files in os.walk(self.scratch):
            for name in [*folders, *files]:
                status = os.lstat(Path(parent, name))
                if stat.S_ISDIR(status.st_mode) and status.st_mode & 0o700 != 0o700:
                    reasons.append("a folder that nobody can look into or remove")
                elif traces.hidden_mb(status) > ROOM_MB:
                    reasons.append("a file has room in no length")
        for kind, number, creator in set(_ipc()) - kept:
            if creator in family:
                reasons.append(f"{kind} was left")
                with contextlib.suppress(OSError):
                    kernel.syscall(NUMBERS[f"{kind}ctl"], ctypes.c_int(number), *map(ctypes.c_long, (0, 0)))
        for name in (self.mark, "own", "folder", "other"):
            with contextlib.suppress(OSError):
                kernel.syscall(NUMBERS["mq_unlink"], name.encode())
                reasons.append("a queue was left")
        with contextlib.suppress(OSError):
            (Path("/dev/shm", self.mark)).unlink()  # noqa: S108 - the system's
            reasons.append("shared memory was left")
        self._renew(self.scratch)
        return reasons

    def _be_child(self, drawn: list[Call]) -> None:
        """Confine this process and make the calls."""
        os.setsid()
        os.chdir(self.scratch)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        readable = [self.stage / "submission" / "model.py", self.stage / "submission"]
        readable += [self.stage / "outside" / "secret"] if self.plan.level != "full" else []
        # What it has: a socket, frames, a pipe, a file of its own and some that it may read.
        have = [*(end.detach() for end in socket.socketpair()), self.frames, *os.pipe()]
        have += [os.open("own", os.O_RDWR | os.O_CREAT), *(os.open(path, os.O_RDONLY) for path in readable)]
        for number, descriptor in enumerate([os.dup2(one, 100 + place) for place, one in enumerate(have)]):
            os.dup2(descriptor, number)
        os.closerange(len(have), 200)
        landlock.NEWEST = self.plan.landlock
        rules = calls.rules
        calls.rules = lambda *of: {**rules(*of), **dict.fromkeys(self.plan.opened, ())}
        code = self.stage / "submission"
        policy = SandboxPolicy(self.plan.level, self.scratch, code, None, MEMORY_MB, 64, 60, os.getppid())  # type: ignore[arg-type]
        libc = ctypes.CDLL(None)
        real = {STRANGER: self.stranger, -STRANGER: -self.stranger}
        words = [[ctypes.c_long(real.get(word, word)) for word in call] for call in drawn]
        # As in a run, where refusals are told; nobody listens here.
        if enter_sandbox(policy, lambda *_: None).level != self.plan.level:
            return
        for place, call in enumerate(words):
            self.shared[0] = 1 + place
            if libc.syscall(*call) >= 0 and 0 <= call[0].value < 1024:
                self.shared[TALLY + call[0].value] = 1
        self.shared[0] = 255
        while True:
            time.sleep(1)

    def _follow(self, pid: int) -> Iterator[str]:
        """Wait until a child has ended, is done, or waits for what never comes; yield what it has that it must not."""
        still, at = 0, -1
        while not os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            still = still + 1 if self.shared[0] == at else 0
            at = self.shared[0]
            # Three looks asleep; or busy without end.
            if at == 255 or (still > 3 and _state(pid) in {"S", "T"}) or still > 2000:
                with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                    yield from self._look_into(pid)
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(OSError):
                # What the watch would end.
                if int(Path(f"/proc/{pid}/statm").read_text().split()[1]) >> 8 > MEMORY_MB + FRAMES_MB:
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.001)
        os.waitpid(pid, 0)

    def _look_into(self, pid: int) -> Iterator[str]:
        """Tell what a living child has that no limit counts."""
        try:
            mapped = [line.split(maxsplit=5) for line in Path(f"/proc/{pid}/maps").read_text().splitlines()]
            opened = [(str(path.readlink()), path.stat()) for path in Path(f"/proc/{pid}/fd").iterdir()]
        except PermissionError:
            yield "it cannot be looked into"
            return
        for _, rights, _, _, inode, *path in mapped:
            shared = rights[1] + rights[3] == "ws" and inode not in self.inherited
            if shared and not "".join(path).startswith(str(self.scratch)):
                yield f"it shares memory: {path}"
        for name, status in opened:
            kind = name.partition(":")[2].strip("[]") if name.startswith("anon_inode:") else ""
            if (kind and kind not in HARMLESS) or (name.startswith("/memfd:") and "/memfd:frames" not in name):
                yield f"it has {name}"
            elif traces.hidden_mb(status) > ROOM_MB:
                yield "it has room in no length"


def _shared_maps() -> set[str]:
    """Return the inodes of what this process shares with its children."""
    lines = [line.split(maxsplit=5) for line in Path("/proc/self/maps").read_text().splitlines()]
    return {line[4] for line in lines if line[1].endswith("s")}


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def _outline(pid: int) -> str:
    """Return what other processes may be able to change about one."""
    words = [Path(f"/proc/{pid}/{name}").read_text() for name in ("limits", "oom_score_adj")]
    return f"{words} {os.getpriority(os.PRIO_PROCESS, pid)} {os.sched_getscheduler(pid)} {os.sched_getaffinity(pid)} "


def _look_at(path: Path) -> str:
    try:
        return f"{traces.of(path)} {path.lstat().st_ctime_ns}"
    except OSError as error:
        return str(error)


def _children() -> list[int]:
    return [int(word) for word in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]


def _ipc() -> Iterator[tuple[str, int, str]]:
    """Yield kind, number and, where it is known, creator of what belongs to no process and no file."""
    for kind in ("shm", "sem", "msg"):
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/sysvipc/{kind}").read_text().splitlines()[1:]:
                words = line.split()
                yield kind, int(words[1]), words[4] if kind == "shm" else ""


def main() -> None:
    """Search, and print what was found, how many calls were made, and which ever succeeded."""
    kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    fuzz = Fuzz(Plan(**json.loads(sys.argv[1])))
    fuzz.search()
    sys.stdout.write(json.dumps({"found": fuzz.found, "made": fuzz.made, "succeeded": fuzz.succeeded()}))


if __name__ == "__main__":
    main()
