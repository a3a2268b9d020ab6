"""Runs one program of a job: as a process of this machine, or in a container with the worker's flags.

Both get the paths that the program sees under `/app`, and its arguments. A process has no `/app`: these paths are
replaced in its arguments, and in the sources of the run's own copy of the program, because many public programs name
them there. Processes isolate nothing and need nothing, for quick trials.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal, TextIO

import psutil

from bundle_tools.codabench.worker import CannotStart
from bundle_tools.codabench.worker.environment import own_folder, python_for
from bundle_tools.console import Screen, say
from bundle_tools.errors import BundleError

Mounts = Mapping[str, Path]
"""Path inside (all under /app) -> folder outside; all are writable except `/app/data`."""
ENVIRONMENT: Mapping[str, str] = {"PYTHONUNBUFFERED": "1", "http_proxy": "", "https_proxy": ""}
"""The worker gives the container these and nothing else: no id of a submission, a user or a phase."""
KEPT_VARIABLES = ("PATH", "HOME", "TMPDIR", "TEMP", "LD_LIBRARY_PATH", "SYSTEMROOT")
"""Variables that a process needs; any other could make a run differ from one on the platform."""
WATCHED = {"PROGRESS_EVERY_S": "1"}
"""Programs that know this variable report progress more often, for a person who is watching."""
TEMPLATES = "COMPILED_TEMPLATES"
"""Programs that know this variable keep compiled templates in the folder that it names."""
WORKER_DATA = "/app/data"
"""The worker's own data: the only mount that programs cannot write to."""
GRACE_S = 5.0
LINE_BYTES = 64 * 1024
"""An endless line must not fill the memory."""
PULL_TRIES = 3
"""The worker's number of attempts."""
ALWAYS_PULLED = (
    "Codabench pulls the image from a registry for every job: an image that is only on this machine fails there."
)


@dataclass(frozen=True)
class Command:
    """One program to run."""

    name: str
    """Stem of its two log files, as the platform names them: "prediction_ingestion", "prediction" or "scoring"."""
    arguments: list[str]
    """The split command, with the paths inside."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables beside those that the worker gives."""


@dataclass(frozen=True)
class Outcome:
    """How a program ended."""

    exit_code: int
    """0 means success; negative: ended by that signal."""
    elapsed_s: float
    """Wall-clock seconds."""
    killed: bool = False
    """Whether it was ended at the time limit."""


@dataclass(frozen=True)
class Docker:
    """Containers, made with the `docker` command, wherever its engine is (DOCKER_HOST)."""

    image: str
    network: bool = False
    """Whether the containers reach the network; the worker allows it unless its owner forbids it."""
    pull: Literal["never", "missing", "always"] = "never"
    """Whether to fetch the image first; the worker always does."""
    gpus: str | None = None
    """Which GPUs the containers see, as `docker run --gpus` takes it; none without it."""


def run(
    command: Command, mounts: Mounts, logs: Path, *, docker: Docker | None = None, timeout_s: float | None = None
) -> Outcome:
    """Run a program to its end, show its output, and keep it in `logs/<name>_stdout.txt` and `..._stderr.txt`.

    `docker`: None runs a process. `timeout_s`: seconds after which it is ended with all that it started; None for no
    limit. Raises CannotStart when the program never ran.
    """
    if docker is not None:
        return _run_in_container(command, mounts, logs, docker, timeout_s)
    program = mounts["/app/program"]
    arguments = [_outside(argument, mounts) for argument in command.arguments]
    if arguments[0] in {"python", "python3"}:
        arguments[0] = str(python_for(program))
    environment = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    environment |= {TEMPLATES: str(folder)} if (folder := own_folder("templates")) else {}
    environment |= {"LANG": "C.UTF-8", **ENVIRONMENT, **command.environment, **(WATCHED if sys.stdout.isatty() else {})}
    for path in sorted(program.rglob("*")):
        if path.suffix in {".py", ".sh"} and path.is_file() and b"/app/" in path.read_bytes():
            # Bytes that are not UTF-8 are preserved.
            text = path.read_text(encoding="utf-8", errors="surrogateescape")
            path.write_text(_outside(text, mounts), encoding="utf-8", errors="surrogateescape")
    try:
        return stream(
            arguments, logs / command.name, stop=end_tree, timeout_s=timeout_s, cwd=program, environment=environment,
        )  # fmt: skip
    except OSError as error:
        raise CannotStart(f"cannot start {arguments[0]!r}: {error}") from error


def _outside(text: str, mounts: Mounts) -> str:
    """Replace every path under /app in an argument or a source by the folder that is mounted there."""
    for inside in sorted(mounts, key=len, reverse=True):
        pattern = rf"(?<![\w./-]){re.escape(inside)}(?![\w-])"
        text = re.sub(pattern, str(mounts[inside]).replace("\\", r"\\"), text)
    return text


def end_tree(pid: int) -> None:
    """End a process and all its descendants, even in other sessions, like the end of a container."""
    with suppress(psutil.NoSuchProcess):
        top = psutil.Process(pid)
        for process in (top, *top.children(recursive=True)):
            with suppress(psutil.Error):
                process.kill()


def prepare(docker: Docker | None) -> list[str]:
    """Fetch the image if asked, before the clock of a job starts; return what the platform would refuse about it.

    Raises BundleError when there is no Docker, or no image.
    """
    if docker is None:
        return []
    if shutil.which("docker") is None:
        raise BundleError("--engine docker: expected the docker command, found none. Install Docker.")
    version = _docker("version", "--format", "{{.Server.Version}}")
    if version.returncode != 0:
        raise BundleError(f"--engine docker: no engine answers: {_last_line(version.stderr)} Start it.")
    config = _image_settings(docker.image)
    if docker.pull == "always" or (docker.pull == "missing" and config is None):
        _pull(docker)
        config = _image_settings(docker.image)
    if config is None:
        raise BundleError(
            f"--image: expected {docker.image} on this machine, found none. "
            f"Build it, or fetch it with --pull missing. {ALWAYS_PULLED}"
        )
    # What does not work on the platform: a user who may not write, and an entrypoint that stays.
    notes, user = [], str(config.get("User") or "")
    if user.partition(":")[0] not in {"", "0", "root"}:
        problem = f"it runs as the user {user!r}, who cannot write /app/output on the platform. Use root."
        notes.append(f"image {docker.image}: {problem}")
    if config.get("Entrypoint"):
        entry = " ".join(config["Entrypoint"])
        notes.append(f"image {docker.image}: its entrypoint {entry!r} stays and gets the command as arguments.")
    return notes


def _image_settings(image: str) -> dict[str, Any] | None:
    """Return an image's settings; None if this machine does not have it."""
    answer = _docker("image", "inspect", "--format", "{{json .Config}}", image)
    return (json.loads(answer.stdout) or {}) if answer.returncode == 0 else None


def _pull(docker: Docker) -> None:
    for attempt in range(1, PULL_TRIES + 1):
        say(f"Pulling {docker.image} (try {attempt} of {PULL_TRIES})")
        pulled = _docker("pull", docker.image)
        if pulled.returncode == 0:
            return
    problem = f"{docker.image} cannot be pulled: {_last_line(pulled.stderr)}"
    raise BundleError(f"--pull {docker.pull}: {problem} {ALWAYS_PULLED}")


def docker_command(command: Command, mounts: Mounts, docker: Docker, name: str) -> list[str]:
    """Return the whole `docker run` command line, with the worker's flags."""
    flags = ["--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--userns", "host", "--shm-size", "64m"]
    if not docker.network:
        flags += ["--network", "none"]
    if docker.gpus is not None:
        flags += ["--gpus", docker.gpus]
    for variable, value in {**ENVIRONMENT, **command.environment}.items():
        flags += ["-e", f"{variable}={value}"]
    for inside, outside in mounts.items():
        flags += ["-v", f"{outside.resolve()}:{inside}:{'ro' if inside == WORKER_DATA else 'rw'}"]
    # `prepare` has already fetched the image, if asked.
    start = ("docker", "run", "--name", name, "--pull", "never", "--workdir", "/app/program")
    return [*start, *flags, docker.image, *command.arguments]


def _run_in_container(command: Command, mounts: Mounts, logs: Path, docker: Docker, timeout_s: float | None) -> Outcome:
    folders = {inside: outside for inside, outside in mounts.items() if inside != WORKER_DATA}
    as_user = os.geteuid() != 0
    if as_user:
        # On the platform root owns these folders; without capabilities, it may not write into those of others.
        for folder in folders.values():
            open_to_all(folder)
    name = f"bundle-{command.name}-{uuid.uuid4().hex[:12]}"

    def remove(_: int = 0) -> None:
        _docker("rm", "--force", name)

    try:
        outcome = stream(
            docker_command(command, mounts, docker, name), logs / command.name, stop=remove, timeout_s=timeout_s,
        )  # fmt: skip
        if outcome.killed:
            return outcome
        return Outcome(_exit_code(name, logs / f"{command.name}_stderr.txt"), outcome.elapsed_s)
    finally:
        remove()
        if as_user:  # give this user access to files of the container's root, to zip and delete them
            volumes = [part for inside, outside in folders.items() for part in ("-v", f"{outside.resolve()}:{inside}")]
            flags = ("--rm", "--pull", "never", "--network", "none", "--user", "0", "--entrypoint", "chmod")
            _docker("run", *flags, *volumes, docker.image, "-R", "a+rwX", *folders)


def open_to_all(folder: Path) -> None:
    """Let every user read and write a folder and everything below it that belongs to this user."""
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            with suppress(PermissionError):
                path.chmod(0o777 if path.is_dir() else 0o666)


def _exit_code(name: str, stderr: Path) -> int:
    """Ask the engine how a container ended: `docker run` reports its own failures with codes a program may use too."""
    state = _docker("container", "inspect", "--format", "{{.State.Status}} {{.State.ExitCode}}", name)
    status, _, code = state.stdout.strip().partition(" ")
    if state.returncode != 0 or status == "created":
        text = stderr.read_text(encoding="utf-8", errors="replace") if stderr.is_file() else ""
        raise CannotStart(f"Docker cannot start it: {_last_line(text)}")
    return int(code)


def _docker(*arguments: str) -> "subprocess.CompletedProcess[str]":
    docker = shutil.which("docker") or "docker"
    return subprocess.run([docker, *arguments], capture_output=True, text=True, check=False)  # noqa: S603 - no shell


def _last_line(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if not line.startswith("See '")]
    return lines[-1] if lines else "no reason given"


def stream(
    arguments: list[str],
    log: Path,
    *,
    stop: Callable[[int], None],
    timeout_s: float | None = None,
    cwd: Path | None = None,
    environment: dict[str, str] | None = None,
) -> Outcome:
    """Run a command to its end, and keep its output in `<log>_stdout.txt` and `<log>_stderr.txt`.

    `stop`: ends the processes of the command, given its process id; called at the time limit or on an interruption.
    Raises OSError when the command cannot be started.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    process = subprocess.Popen(  # noqa: S603 - the organiser's own command, and no shell
        arguments,
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    screen = Screen()
    pumps = [
        threading.Thread(target=_pump, args=(pipe, log.with_name(f"{log.name}_{name}.txt"), ours, screen), daemon=True)
        for name, pipe, ours in (("stdout", process.stdout, sys.stdout), ("stderr", process.stderr, sys.stderr))
    ]
    for pump in pumps:
        pump.start()
    killed = False
    try:
        process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        killed = True
        stop(process.pid)
    except BaseException:
        stop(process.pid)
        raise
    try:
        exit_code = process.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        exit_code = process.wait()
    elapsed_s = time.monotonic() - started
    for pump in pumps:
        # A process that the program left behind may hold the pipe open forever.
        pump.join(GRACE_S)
    return Outcome(exit_code, elapsed_s, killed)


def _pump(pipe: IO[bytes], log: Path, stream: TextIO, screen: Screen) -> None:
    with log.open("wb") as file:
        while line := pipe.readline(LINE_BYTES):
            file.write(line)
            file.flush()
            # A closed screen must not stop the reading, or the program would wait forever.
            screen.show(line.decode("utf-8", "replace"), stream)
