"""Run Python scripts as processes of their own, forked from a process that has imported the heavy packages already.

Each test process keeps one such process (multiprocessing's fork server); it has called nothing of the packages, so it
has one thread and no state. A script starts in a tenth of a new interpreter's time. It sees two differences: the
packages are in `sys.modules` from the beginning, and its `/proc/self/cmdline` and `environ` are the fork server's.
Where that matters, start an interpreter. What the programs compile is kept, too (`compiled.py`).
"""

import atexit
import contextlib
import ctypes
import gc
import multiprocessing
import os
import resource
import runpy
import signal
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from multiprocessing import connection, resource_tracker
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path

HEAVY = (
    *("av", "cv2", "jinja2", "numpy", "numpy.random", "numpy.typing", "scipy.sparse.linalg", "yaml"),
    *("concurrent.futures.thread", "csv", "difflib", "html", "importlib.metadata", "importlib.resources", "statistics"),
)
# Starting a process also looks whether others have ended. Of two threads that read one exit code, the second gets 255.
_ONE_AT_A_TIME = threading.Lock()
_INTERPRETER = (sys.prefix, sys.base_prefix)
_SET_NO_NEW_PRIVS, _DROP_FROM_BOUNDING_SET, _CAPSET = 38, 24, 126
_CAPABILITY_VERSION = 0x20080522


@dataclass(frozen=True)
class Ended:
    """A script that has ended."""

    code: int
    """Its exit code; minus the number of the signal that ended it."""
    printed: str
    """Standard output and error, as they came."""
    memory_mb: int
    """Largest resident memory of it and of what it waited for, each for itself, MB; 0 where it was killed."""


class Running:
    """A script that may still run."""

    def __init__(self, process: ForkServerProcess, folder: tempfile.TemporaryDirectory[str]) -> None:
        self._process = process
        self._folder = folder

    @property
    def pid(self) -> int:
        """Its process id."""
        assert self._process.pid is not None
        return self._process.pid

    def kill(self) -> None:
        """End it by SIGKILL; what it started stays."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def wait(self, timeout_s: float | None = None) -> Ended:
        """Wait for its end; kill it after `timeout_s`."""
        if not connection.wait([self._process.sentinel], timeout_s):
            self.kill()
            connection.wait([self._process.sentinel])
        with _ONE_AT_A_TIME:
            self._process.join()
        assert self._process.exitcode is not None
        printed = (Path(self._folder.name) / "printed").read_text("utf-8", "replace")
        used = Path(self._folder.name) / "memory"
        memory_mb = int(used.read_text() or 0) if used.exists() else 0
        self._folder.cleanup()
        return Ended(self._process.exitcode, printed, memory_mb)


def start(
    script: Path | str,
    arguments: Sequence[object] = (),
    *,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    bare_root: bool = False,
) -> Running:
    """Start a script.

    `script`: a Python file, whose folder comes first on `sys.path`, as for `python3 FILE`.
    `arguments`: the rest of `sys.argv`.
    `cwd`: where it runs; here without it.
    `environment`: all its variables; those of this process without it.
    `bare_root`: whether a root loses all capabilities, as in the platform's containers.
    """
    folder = tempfile.TemporaryDirectory(prefix="warm-")
    variables = dict(os.environ if environment is None else environment)
    words = [str(word) for word in (script, *arguments)]
    bare = bare_root and os.geteuid() == 0
    place = (words, str(cwd or Path.cwd()), variables, folder.name, _templates().name, bare)
    process = _server().Process(target=_become, args=place)
    (Path(folder.name) / "printed").touch()
    with _ONE_AT_A_TIME:
        process.start()
    return Running(process, folder)


def run(
    script: Path | str,
    arguments: Sequence[object] = (),
    *,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    bare_root: bool = False,
) -> Ended:
    """Run a script to its end; the parameters are those of `start`."""
    return start(script, arguments, cwd=cwd, environment=environment, bare_root=bare_root).wait()


@cache
def _templates() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="templates-")


@cache
def _server() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["__main__", *HEAVY, __name__, "tests.compiled"]
    )  # what each fork would else do again
    return context


def _become(
    words: list[str],
    cwd: str,
    environment: dict[str, str],
    folder: str,
    templates: str,
    bare_root: bool,
) -> None:
    """Be the script, in the forked process; never returns."""
    from tests import compiled  # noqa: PLC0415 - not where `start` is called

    code = 1
    gc.freeze()  # else the first look for garbage touches, and so copies, all that was forked
    compiled.use(templates)
    # What is open here is the fork server's; a script inherits nothing but its standard streams.
    printed = os.open(f"{folder}/printed", os.O_WRONLY | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(printed, stream)
    os.closerange(3, 256)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - multiprocessing had closed it
    resource_tracker._resource_tracker._fd = None  # type: ignore[attr-defined]  # a script's own pools start another
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None
    if bare_root:
        _drop_capabilities()
    sys.argv[:] = words
    # As in a new interpreter: nothing of the repository is on the path but the script's folder.
    sys.path[:] = [str(Path(words[0]).resolve().parent), *(p for p in sys.path if p.startswith(_INTERPRETER))]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        runpy.run_path(words[0], run_name="__main__")
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:  # noqa: BLE001 - what an interpreter does at its end
        sys.excepthook(*sys.exc_info())
    with contextlib.suppress(BaseException):
        threading._shutdown()  # type: ignore[attr-defined]  # as an interpreter waits for its threads
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    used = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    with contextlib.suppress(OSError):
        Path(f"{folder}/memory").write_text(str(max(used) >> 10))
    os._exit(code & 0xFF)


def _drop_capabilities() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in range(64):
        libc.prctl(_DROP_FROM_BOUNDING_SET, capability, 0, 0, 0)
    libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    header, none = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0), (ctypes.c_uint32 * 6)()
    if libc.syscall(ctypes.c_long(_CAPSET), header, none):
        raise OSError(ctypes.get_errno(), "the capabilities could not be dropped")
