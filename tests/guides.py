"""The commands of the guides, to be executed: whatever stands in a block marked `sh`."""

import contextlib
import io
import os
import re
import select
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bundle_tools.cli.main import main
from bundle_tools.codabench.worker import engine
from bundle_tools.codabench.worker.engine import Outcome
from tests import ROOT, warm

_SHELL = re.compile(r"^ *```sh\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
# Asks this process, and ends as it says; a pipe takes so short a message at one stroke.
_ASKS = """\
#!/bin/sh
{{ printf '%s\\n' {name} "$PWD" "$@"; printf '\\036'; }} | cat > "{folder}/asked"
read -r code < "{folder}/answered"
exit "$code"
"""


def shell_blocks(guide: str) -> list[str]:
    """Give the blocks of a guide, named from the top of the repository; `console` marks what tests cannot run."""
    return _SHELL.findall((ROOT / guide).read_text("utf-8"))


def run_script(script: str, folder: Path, programs: Path) -> subprocess.CompletedProcess[str]:
    """Run a script in a folder, up to the first line that fails; what it printed comes first, then what `bundle` did.

    `script`: lines of shell. `bundle` is called in this process, and scripts of Python are run by a warm one.
    """
    programs.mkdir()
    for name in ("bundle", "python3"):
        (programs / name).write_text(_ASKS.format(name=name, folder=programs), "utf-8")
        (programs / name).chmod(0o755)
    for pipe in ("asked", "answered"):
        os.mkfifo(programs / pipe)
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    printed, heard = programs / "stdout", io.StringIO()
    with printed.open("w") as stdout, (programs / "stderr").open("w") as stderr:
        call = ["sh", "-c", f"set -eux\n{script}"]
        with subprocess.Popen(call, cwd=folder, env=environment, stdout=stdout, stderr=stderr) as shell:
            _serve(shell, programs, heard)
    done = subprocess.CompletedProcess(
        call, shell.returncode, printed.read_text("utf-8") + heard.getvalue(), (programs / "stderr").read_text("utf-8")
    )
    assert done.returncode == 0, done.stderr[-3000:] + done.stdout[-3000:]
    return done


def _serve(shell: subprocess.Popen[bytes], programs: Path, heard: io.StringIO) -> None:
    """Do what the shell asks for, one thing after the other, until it has ended."""
    # Held open for both directions: whoever opened one later could meet its end in place of an answer.
    asked, answered = (os.open(programs / name, os.O_RDWR) for name in ("asked", "answered"))
    try:
        message = b""
        while shell.poll() is None:
            if not select.select([asked], [], [], 0.02)[0]:
                continue
            message += os.read(asked, 65536)
            if message.endswith(b"\036"):
                name, cwd, *words = message[:-1].decode().splitlines()
                message = b""
                code = _call(name, Path(cwd), words, heard)
                os.write(answered, f"{code}\n".encode())
    finally:
        os.close(asked)
        os.close(answered)


def _call(name: str, cwd: Path, words: Sequence[str], heard: io.StringIO) -> int:
    if name == "python3" and words[0].endswith(".py"):
        ended = warm.run(cwd / words[0], words[1:], cwd=cwd)
        heard.write(ended.printed)
        return ended.code
    if name == "python3":
        done = subprocess.run([sys.executable, *words], cwd=cwd, capture_output=True, text=True, check=False)
        heard.write(done.stdout + done.stderr)
        return done.returncode
    with contextlib.chdir(cwd), contextlib.redirect_stdout(heard), contextlib.redirect_stderr(heard):
        try:
            return main(words)
        except SystemExit as error:
            return int(bool(error.code))


def fork_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `bundle` take forks of a warm process for the two programs, whose output then comes at the end."""
    really = engine.stream

    def stream(arguments: list[str], log: Path, **options: Any) -> Outcome:  # noqa: ANN401 - those of the real one
        if arguments[0] != sys.executable:  # a container
            return really(arguments, log, **options)
        ended = warm.run(
            options["cwd"] / arguments[1], arguments[2:], cwd=options["cwd"], environment=options["environment"]
        )
        log.parent.mkdir(parents=True, exist_ok=True)
        log.with_name(f"{log.name}_stdout.txt").write_text(ended.printed, "utf-8")
        log.with_name(f"{log.name}_stderr.txt").touch()
        return Outcome(ended.code, elapsed_s=1.0, killed=False)

    monkeypatch.setattr(engine, "stream", stream)
    monkeypatch.setattr(engine, "python_for", lambda _: sys.executable)


def run_lines(lines: Sequence[str]) -> None:
    """Run lines that call `bundle` and nothing else, in this process: the fastest way."""
    for line in lines:
        name, *arguments = shlex.split(line, comments=True)
        assert name == "bundle", line
        assert main(arguments) == 0, line
