"""System calls by lot from inside the sandbox: nothing of them shows outside, and the search would find it if it did.

FUZZ_SECONDS=600 goes on for so long in each place, and FUZZ_SEED=7 draws others.
"""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from model_process.sandbox import landlock
from model_process.sandbox.syscalls import this_machine
from tests.hostile.fuzz_calls import Plan
from tests.hostile.stage import BARE_ROOT

SCRIPT = Path(__file__).with_name("fuzz_calls.py")
pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or this_machine() is None, reason="a sandbox of the Linux kernel"
)


def search(
    folder: Path,
    version: int,
    *,
    seed: int = 1,
    children: int,
    seconds: float = 0,
    opened: tuple[str, ...] = (),
) -> tuple[list[str], set[str]]:
    """Return what was found, and which calls ever succeeded; `version` is Landlock's, 0 for none."""
    if version > landlock.version():
        pytest.skip(f"this machine has no Landlock {version}")
    plan = Plan(str(folder), "full" if version else "seccomp", version, seed, children, seconds, opened)
    bare = BARE_ROOT if os.geteuid() == 0 and shutil.which("setpriv") else ()
    command = [*bare, sys.executable, str(SCRIPT), json.dumps(asdict(plan))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    return told["found"], set(told["succeeded"])


@pytest.mark.slow
@pytest.mark.parametrize("version", sorted({0, 1, landlock.version()}))
def test_no_call_shows_outside(version: int, tmp_path: Path) -> None:
    seed, seconds = int(os.environ.get("FUZZ_SEED", "1")), float(os.environ.get("FUZZ_SECONDS", "0"))
    found, succeeded = search(tmp_path, version, seed=seed, children=350, seconds=seconds)
    assert found == []
    assert len(succeeded) > 80  # it gets past the filter, and has arguments that the kernel takes


SHOWS = {
    "truncate": "is other",
    "chmod": "is other",
    "sched_setaffinity": "is other",
    "fork": "a process was left",
    "memfd_create": "it has /memfd:",
    "inotify_init1": "it has anon_inode:inotify",
    "shmget": "shm was left",
    "mkdir": "a folder that nobody can look into",
    "mmap": "it shares memory",
    "fallocate": "room in no length",
    "prctl": "it cannot be looked into",
}
"""Calls that are refused, or looked into -> what they would do."""


@pytest.mark.slow
def test_what_shows_outside_is_found(tmp_path: Path) -> None:
    """Where the filter lets these pass, each is found and named."""
    present = {name: reason for name, reason in SHOWS.items() if name in this_machine().numbers}  # type: ignore[union-attr]
    found, _ = search(tmp_path, min(1, landlock.version()), children=200, opened=tuple(present))
    named = {text.split(": ")[1].partition("(")[0]: text for text in found}
    assert named.keys() == present.keys()
    assert [name for name, reason in present.items() if reason not in named[name]] == []
