"""An engine and the competition's image, made once; where they cannot be made, the skip says so loudly."""

import fcntl
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from bundle_tools.codabench.build import wheel_entries
from tests import ROOT

SCRIPT = Path(__file__).with_name("engine.sh")
CANNOT = 77


def call(command: str, **variables: str) -> str:
    """Run one command of engine.sh; skip where this machine cannot do it, fail where it went wrong."""
    done = subprocess.run(
        ["sh", str(SCRIPT), command], capture_output=True, text=True, env={**os.environ, **variables}, check=False
    )
    last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
    if done.returncode == CANNOT:
        pytest.skip(f"CONTAINERS NOT TESTED: {last}")
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="session")
def engine() -> Iterator[None]:
    """Keep an engine running; `docker` finds it through the environment."""
    # One session at a time: the first one to end would stop the other's engine.
    with (Path(tempfile.gettempdir()) / "first-impressions-engine.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = os.environ.get("DOCKER_HOST")
        host = call("up")
        if host:
            os.environ["DOCKER_HOST"] = host
        try:
            yield
        finally:
            call("down")
            if before is None:
                os.environ.pop("DOCKER_HOST", None)
            else:
                os.environ["DOCKER_HOST"] = before


@pytest.fixture(scope="session")
def image(engine: None, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Give the name of the competition's own image."""
    # Fetched out here, where the package index is known to be reachable, and for the image's Python, not for this one.
    wheels = tmp_path_factory.mktemp("wheels")
    for name, path in wheel_entries(ROOT):
        if name.startswith("ingestion_program/"):
            (wheels / path.name).symlink_to(path)
    return call("image", WHEELS=str(wheels))


@pytest.fixture(scope="session")
def bare(engine: None) -> str:
    """Give the name of an image with Python and pip alone."""
    return call("base")
