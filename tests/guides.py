"""The commands of the guides, to be executed: whatever stands in a block marked `sh`."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from bundle_tools.cli import main

ROOT = Path(__file__).resolve().parents[1]
_SHELL = re.compile(r"^ *```sh\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


def shell_blocks(guide: str) -> list[str]:
    """Give the blocks of a guide, named from the top of the repository; `console` marks what tests cannot run."""
    return _SHELL.findall((ROOT / guide).read_text("utf-8"))


def run_script(script: str, folder: Path, programs: Path) -> subprocess.CompletedProcess[str]:
    """Run a script in a folder, up to the first line that fails.

    Parameters
    ----------
    script
        Lines of shell; `bundle` and `python3` are those of these tests.
    folder
        Where it runs.
    programs
        A new folder for the two.
    """
    programs.mkdir()
    # Links would lose their environment: Python looks for it beside the path by which it was called.
    python = f'exec "{sys.executable}"'
    for name, command in (("python3", python), ("bundle", f'PYTHONPATH="{ROOT}" {python} -m bundle_tools.cli')):
        (programs / name).write_text(f'#!/bin/sh\n{command} "$@"\n', "utf-8")
        (programs / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    call = ["sh", "-c", f"set -eux\n{script}"]
    done = subprocess.run(call, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done


def run_lines(lines: Sequence[str]) -> None:
    """Run lines that call `bundle` and nothing else, in this process: the fastest way."""
    for line in lines:
        name, *arguments = shlex.split(line, comments=True)
        assert name == "bundle", line
        assert main(arguments) == 0, line
