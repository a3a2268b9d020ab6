"""Where the programs of a run are executed: as processes of this machine, or in containers.

Both engines get the same `Container`: the paths that the program sees under `/app`, and its arguments. The process
engine has no `/app`; it rewrites these paths in the arguments. It isolates nothing and needs nothing: it is for trying
things out. The Docker engine uses the worker's flags.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol, TextIO

from bundle_tools.errors import BundleError

# The worker gives the container these and nothing else: no id of a submission, a user or a phase.
ENVIRONMENT = {"PYTHONUNBUFFERED": "1", "http_proxy": "", "https_proxy": ""}
# What a process needs to run at all; any other variable would make a run here unlike a run there.
KEPT_VARIABLES = ("PATH", "HOME", "TMPDIR", "TEMP", "LD_LIBRARY_PATH", "SYSTEMROOT")
GRACE_S = 5.0


@dataclass(frozen=True)
class Container:
    """One program to run."""

    name: str
    """Stem of its two log files: "ingestion", "submission" or "scoring"."""
    mounts: dict[str, Path]
    """Path inside (all under /app) -> folder outside; all are writable."""
    arguments: list[str]
    """The split command, with the paths inside."""


@dataclass(frozen=True)
class Outcome:
    """How a program ended."""

    exit_code: int
    """0 means success; negative: ended by that signal."""
    elapsed_s: float
    """Wall-clock seconds."""


class Engine(Protocol):
    """Runs one container to its end while its output is shown and kept."""

    def run(self, container: Container, logs: Path) -> Outcome:
        """Run, stream both outputs to the terminal, and keep them in `logs/<name>_stdout.txt` and `..._stderr.txt`."""


class ProcessEngine:
    """Runs programs as processes, with this Python."""

    def run(self, container: Container, logs: Path) -> Outcome:
        """See `Engine.run`."""
        arguments = [_outside(argument, container.mounts) for argument in container.arguments]
        if arguments[0] in {"python", "python3"}:
            arguments[0] = sys.executable
        environment = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
        environment |= {"LANG": "C.UTF-8", **ENVIRONMENT}
        return _stream(arguments, container, logs, cwd=container.mounts["/app/program"], environment=environment)


@dataclass(frozen=True)
class DockerEngine:
    """Runs programs in containers with the worker's flags."""

    image: str
    """Name of a local image; unlike the worker, this never pulls."""
    network: bool = False
    """Whether the containers reach the network; the worker allows it unless its owner forbids it."""

    def run(self, container: Container, logs: Path) -> Outcome:
        """See `Engine.run`."""
        if shutil.which("docker") is None:
            raise BundleError("--engine docker: expected the docker command, found none. Install Docker.")
        if os.geteuid() != 0:
            # On the platform these folders belong to root, and a root without capabilities may not write into others'.
            for folder in container.mounts.values():
                open_to_all(folder)
        name = f"bundle-{container.name}-{uuid.uuid4().hex[:12]}"
        try:
            return _stream([*self.command(container, name)], container, logs)
        except BaseException:
            docker = shutil.which("docker") or "docker"
            subprocess.run([docker, "rm", "-f", name], capture_output=True, check=False)  # noqa: S603 - our own name
            raise

    def command(self, container: Container, name: str) -> list[str]:
        """Give the whole `docker run` command line."""
        flags = ["--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--shm-size", "64m", "--pull", "never"]
        if not self.network:
            flags += ["--network", "none"]
        for variable, value in ENVIRONMENT.items():
            flags += ["-e", f"{variable}={value}"]
        for inside, outside in container.mounts.items():
            flags += ["-v", f"{outside.resolve()}:{inside}:rw"]
        return [
            *("docker", "run", "--rm", "--name", name, "--workdir", "/app/program"),
            *flags,
            self.image,
            *container.arguments,
        ]


def open_to_all(folder: Path) -> None:
    """Let every user read and write a folder and everything below it that belongs to this user."""
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            with suppress(PermissionError):
                path.chmod(0o777 if path.is_dir() else 0o666)


def _outside(argument: str, mounts: dict[str, Path]) -> str:
    """Rewrite every path under /app in one argument to the folder that is mounted there."""
    for inside in sorted(mounts, key=len, reverse=True):
        pattern = rf"(?<![\w./-]){re.escape(inside)}(?=/|$)"
        argument = re.sub(pattern, str(mounts[inside]).replace("\\", r"\\"), argument)
    return argument


def _stream(
    arguments: list[str],
    container: Container,
    logs: Path,
    *,
    cwd: Path | None = None,
    environment: dict[str, str] | None = None,
) -> Outcome:
    logs.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    try:
        process = subprocess.Popen(  # noqa: S603 - the organiser's own command, and no shell
            arguments,
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise BundleError(f"{container.name}: cannot start {arguments[0]!r}: {error}.") from error
    pumps = [
        threading.Thread(target=_pump, args=(pipe, logs / f"{container.name}_{name}.txt", screen), daemon=True)
        for name, pipe, screen in (("stdout", process.stdout, sys.stdout), ("stderr", process.stderr, sys.stderr))
    ]
    for pump in pumps:
        pump.start()
    try:
        exit_code = process.wait()
    except BaseException:
        _end(process)
        raise
    for pump in pumps:
        # A process that the program left behind may hold the pipe open for ever.
        pump.join(GRACE_S)
    return Outcome(exit_code, time.monotonic() - started)


def _pump(pipe: IO[bytes], log: Path, screen: TextIO) -> None:
    with log.open("wb") as file:
        for line in pipe:
            file.write(line)
            file.flush()
            screen.write(line.decode("utf-8", "replace"))
            screen.flush()


def _end(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_S)
            return
