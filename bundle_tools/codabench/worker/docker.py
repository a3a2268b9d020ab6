"""Runs programs in containers with the worker's flags."""

import json
import os
import shutil
import subprocess
import uuid
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from bundle_tools.codabench.worker import CannotStart
from bundle_tools.codabench.worker.engine import ENVIRONMENT, WORKER_DATA, Container, Outcome, stream
from bundle_tools.console import say
from bundle_tools.errors import BundleError

Pull = Literal["never", "missing", "always"]
# The worker's number of attempts.
PULL_TRIES = 3
ALWAYS_PULLED = (
    "Codabench pulls the image from a registry for every job: an image that is only on this machine fails there."
)


@dataclass(frozen=True)
class DockerEngine:
    """Runs programs with the `docker` command, wherever its engine is (DOCKER_HOST)."""

    image: str
    """Name of the image."""
    network: bool = False
    """Whether the containers reach the network; the worker allows it unless its owner forbids it."""
    pull: Pull = "never"
    """Whether to fetch the image first; the worker always does."""
    gpus: str | None = None
    """Which GPUs the containers see, as `docker run --gpus` takes it; none without it."""

    def prepare(self) -> list[str]:
        """Fetch the image if asked, and check how it starts.

        Raises
        ------
        BundleError
            When there is no Docker, or no image.
        """
        if shutil.which("docker") is None:
            raise BundleError("--engine docker: expected the docker command, found none. Install Docker.")
        asked = _docker("version", "--format", "{{.Server.Version}}")
        if asked.returncode != 0:
            raise BundleError(f"--engine docker: no engine answers: {_last_line(asked.stderr)} Start it.")
        config = self._config()
        if self.pull == "always" or (self.pull == "missing" and config is None):
            self._fetch()
            config = self._config()
        if config is None:
            raise BundleError(
                f"--image: expected {self.image} on this machine, found none. "
                f"Build it, or fetch it with --pull missing. {ALWAYS_PULLED}"
            )
        return _image_notes(self.image, config)

    def run(self, container: Container, logs: Path, timeout_s: float | None = None) -> Outcome:
        """See `Engine.run`."""
        if os.geteuid() != 0:
            # On the platform root owns these folders; without capabilities, it may not write into those of others.
            for inside, folder in container.mounts.items():
                if inside != WORKER_DATA:
                    open_to_all(folder)
        name = f"bundle-{container.name}-{uuid.uuid4().hex[:12]}"

        def stop(_: int) -> None:
            _docker("rm", "--force", name)

        try:
            ended = stream(
                self.command(container, name), logs / container.name, stop=stop, timeout_s=timeout_s,
                told=container.told, quiet=container.quiet,
            )  # fmt: skip
            if ended.killed:
                return Outcome(ended.exit_code, ended.elapsed_s, killed=True)
            return Outcome(_exit_code(name, logs / f"{container.name}_stderr.txt"), ended.elapsed_s)
        finally:
            stop(0)
            if os.geteuid() != 0:
                self._hand_back(container)

    def command(self, container: Container, name: str) -> list[str]:
        """Return the whole `docker run` command line."""
        flags = ["--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--userns", "host", "--shm-size", "64m"]
        if not self.network:
            flags += ["--network", "none"]
        if self.gpus is not None:
            flags += ["--gpus", self.gpus]
        if container.told is not None:
            flags.append("--interactive")
        for variable, value in ENVIRONMENT.items():
            flags += ["-e", f"{variable}={value}"]
        for inside, outside in container.mounts.items():
            flags += ["-v", f"{outside.resolve()}:{inside}:{'ro' if inside == WORKER_DATA else 'rw'}"]
        return [
            # `prepare` has already fetched the image, if asked.
            *("docker", "run", "--name", name, "--pull", "never", "--workdir", "/app/program"),
            *flags,
            self.image,
            *container.arguments,
        ]

    def sweep(self, name: str) -> None:
        """Remove what an earlier program left of containers whose name begins like this."""
        left = _docker("ps", "--all", "--quiet", "--filter", f"name=^/?bundle-{name}")
        if left.stdout.split():
            _docker("rm", "--force", *left.stdout.split())

    def _hand_back(self, container: Container) -> None:
        """Give this machine's user access to files of the container's root, to zip and delete them."""
        folders = [inside for inside in container.mounts if inside != WORKER_DATA]
        mounts = [part for inside in folders for part in ("-v", f"{container.mounts[inside].resolve()}:{inside}")]
        flags = ("--rm", "--pull", "never", "--network", "none", "--user", "0", "--entrypoint", "chmod")
        _docker("run", *flags, *mounts, self.image, "-R", "a+rwX", *folders)

    def _config(self) -> dict[str, Any] | None:
        """Return the image's settings; None if this machine does not have it."""
        found = _docker("image", "inspect", "--format", "{{json .Config}}", self.image)
        if found.returncode != 0:
            return None
        config = json.loads(found.stdout)
        return config if isinstance(config, dict) else {}

    def _fetch(self) -> None:
        for attempt in range(1, PULL_TRIES + 1):
            say(f"Pulling {self.image} (try {attempt} of {PULL_TRIES})")
            pulled = _docker("pull", self.image)
            if pulled.returncode == 0:
                return
        raise BundleError(
            f"--pull {self.pull}: {self.image} cannot be pulled: {_last_line(pulled.stderr)} {ALWAYS_PULLED}"
        )


def open_to_all(folder: Path) -> None:
    """Let every user read and write a folder and everything below it that belongs to this user."""
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            with suppress(PermissionError):
                path.chmod(0o777 if path.is_dir() else 0o666)


def _image_notes(image: str, config: dict[str, Any]) -> list[str]:
    notes = []
    user = str(config.get("User") or "")
    if user.partition(":")[0] not in {"", "0", "root"}:
        notes.append(
            f"image {image}: it runs as the user {user!r}, who cannot write /app/output on the platform. Use root."
        )
    if config.get("Entrypoint"):
        entry = " ".join(config["Entrypoint"])
        notes.append(f"image {image}: its entrypoint {entry!r} stays and gets the command as arguments.")
    return notes


def _exit_code(name: str, stderr: Path) -> int:
    """Ask the engine how a container ended: `docker run` reports its own failures with codes a program may use too."""
    found = _docker("container", "inspect", "--format", "{{.State.Status}} {{.State.ExitCode}}", name)
    status, _, code = found.stdout.strip().partition(" ")
    if found.returncode != 0 or status == "created":
        said = stderr.read_text(encoding="utf-8", errors="replace") if stderr.is_file() else ""
        raise CannotStart(f"Docker cannot start it: {_last_line(said)}")
    return int(code)


def _docker(*arguments: str) -> "subprocess.CompletedProcess[str]":
    docker = shutil.which("docker") or "docker"
    return subprocess.run([docker, *arguments], capture_output=True, text=True, check=False)  # noqa: S603 - no shell


def _last_line(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if not line.startswith("See '")]
    return lines[-1] if lines else "no reason given"
