"""The set-up says what to install where something is missing, and does nothing twice."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests import ROOT

TOOLS = ("cat", "cksum", "dirname", "sh", "echo", "rm")
GROUPS = ("dev", "lint")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    for name in ("bundle_tools/set_up.sh", *(f"requirements/{group}.lock" for group in GROUPS), "pyproject.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "bin").mkdir()
    for tool in TOOLS:
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool) or tool)
    return tmp_path


def set_up(clone: Path, *groups: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": str(clone / "bin"), **variables}
    script = ["sh", str(clone / "bundle_tools" / "set_up.sh"), *groups]
    return subprocess.run(script, capture_output=True, text=True, env=environment, check=False)


def fake_python(clone: Path, name: str, script: str) -> None:
    path = clone / "bin" / name
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(0o755)


def test_no_python(clone: Path) -> None:
    done = set_up(clone)
    assert done.returncode == 1
    assert "Python 3.11 or newer is needed; found: " in done.stderr
    assert "apt-get install python3 python3-venv" in done.stderr
    assert "brew install python" in done.stderr


def test_an_old_python_is_named(clone: Path) -> None:
    fake_python(clone, "python3", OLD)
    done = set_up(clone)
    assert done.returncode == 1
    assert "found: Python 3.9.2" in done.stderr


OLD = '[ "$1" = --version ] && echo Python 3.9.2 && exit 0; exit 1\n'


@pytest.mark.parametrize("named", ["python3.99", "/no/such/python", "python_old"])
def test_a_named_python_that_does_not_work_is_an_error(clone: Path, named: str) -> None:
    """Even where another one would do, and where everything is set up already."""
    fake_python(clone, "python3", "echo Python 3.12.1\n")
    fake_python(clone, "python_old", OLD)
    finish(clone)
    done = set_up(clone, PYTHON=named)
    assert done.returncode == 1
    assert f"PYTHON={named} does not work here" in done.stderr
    assert ("Python 3.9.2" in done.stderr) == (named == "python_old")
    assert "Setting up" not in done.stdout


def test_an_environment_of_another_python_is_made_anew(clone: Path) -> None:
    finish(clone)
    fake_python(
        clone, "newer", 'case "$*" in *print*) echo 3.13.0;; *venv*--clear*) exit 1;; *) echo Python 3.13.0;; esac'
    )
    assert "Setting up .venv with Python 3.13.0" in set_up(clone, PYTHON="newer").stdout


def test_a_python_without_venv_names_the_package(clone: Path) -> None:
    fake_python(clone, "python3", 'case "$*" in *ensurepip*) exit 1;; *) echo Python 3.12.1;; esac\n')
    done = set_up(clone)
    assert done.returncode == 1
    assert "python3 has no venv module" in done.stderr
    assert "apt-get install python3-venv" in done.stderr


def finish(clone: Path) -> None:
    """Leave what a finished set-up leaves."""
    (clone / ".venv" / "bin").mkdir(parents=True)
    for name in ("python", "bundle"):
        fake_python(clone, name, "exit 0\n")
        (clone / "bin" / name).rename(clone / ".venv" / "bin" / name)
    for group in GROUPS:
        names = (f"requirements/{group}.lock", "pyproject.toml", "bundle_tools/set_up.sh")
        parts = b"".join((clone / name).read_bytes() for name in names)
        wanted = subprocess.run(["cksum"], input=parts, capture_output=True, check=True).stdout
        (clone / ".venv" / f".set-up-{group}").write_bytes(wanted)


def test_a_finished_set_up_is_left_alone(clone: Path) -> None:
    finish(clone)
    done = set_up(clone, "lint")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    with (clone / "requirements" / "lint.lock").open("a") as lock:
        lock.write("# changed\n")
    assert set_up(clone).stdout == ""
    assert "Installing the locked packages" in set_up(clone, "lint").stdout


def test_what_could_not_be_installed_is_named(clone: Path) -> None:
    finish(clone)
    (clone / "requirements" / "dev.lock").write_text("changed\n")
    fake_python(clone, "fails", 'case "$*" in *pip*) exit 1;; esac')
    (clone / "bin" / "fails").rename(clone / ".venv" / "bin" / "python")
    done = set_up(clone, "lint")
    assert done.returncode == 1
    assert "The packages of requirements/dev.lock could not be installed" in done.stderr


def test_help_lists_every_target() -> None:
    make = shutil.which("make")
    if make is None:
        pytest.skip("no make")
    done = subprocess.run(
        [make, "-C", str(ROOT), "--no-print-directory"], capture_output=True, text=True, env=os.environ, check=False
    )
    for target in ("demo", "test", "test-all", "check", "lint", "build", "bench", "lock"):
        assert f"\n  {target} " in done.stdout
