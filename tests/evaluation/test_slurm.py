"""Slurm jobs: those that end too early are replaced, and those that cannot start end the command with one line.

Slurm is imitated by a script that starts jobs as processes.
"""

from __future__ import annotations

import gc
import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from bundle_tools import executors
from bundle_tools.cli.main import main
from bundle_tools.evaluation import answers_of
from tests import ROOT
from tests.evaluation.conftest import call, evaluations, stage_of, wait_for

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("dask_jobqueue") is None,
    reason="SLURM NOT TESTED: `make setup WITH=cluster` installs Dask",
)
SECURE = importlib.util.find_spec("cryptography") is not None
# Each job is a file with the number of its process, or with the reason for which it waits.
SLURM = """\
#!{python}
import os, pathlib, signal, subprocess, sys

jobs = pathlib.Path({jobs!r})
name, words = pathlib.Path(sys.argv[0]).name, sys.argv[1:]

def runs(job):
    state = pathlib.Path("/proc", (jobs / job).read_text(), "stat")
    return state.exists() and state.read_text().rpartition(")")[2].split()[0] != "Z"

if name == "sbatch":
    script = pathlib.Path(words[-1]).read_text()
    if "-p nosuch" in script:
        sys.exit("sbatch: error: invalid partition specified: nosuch\\nallocation failure")
    if words[0] == "--test-only":
        sys.exit(0)
    job, content = 1, "PartitionTimeLimit" if "-p short" in script else ""
    while True:
        try:
            file = (jobs / str(job)).open("x")
            break
        except FileExistsError:
            job += 1
    with file:
        if not content:
            copy = jobs.parent / f"{{job}}.sh"
            copy.write_text(script if "-p dying" not in script else "exit 1")
            null = subprocess.DEVNULL
            job_process = subprocess.Popen(["bash", copy], start_new_session=True, stdin=null, stdout=null, stderr=null)
            content = str(job_process.pid)
        file.write(content)
    print("Submitted batch job", job)
elif name == "squeue":
    for job in jobs.iterdir():
        if not (content := job.read_text()).isdigit():
            print(f"{{job.name}}|PENDING|{{content}}")
        elif runs(job.name):
            print(f"{{job.name}}|RUNNING|None")
elif name == "scancel":
    if runs(words[0]):
        os.killpg(int((jobs / words[0]).read_text()), signal.SIGKILL)
elif name == "scontrol":
    print(f"JobId={{words[-1]}} JobState=TIMEOUT Reason=TimeLimit")
"""


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield the folder of the jobs of an imitated Slurm."""
    jobs, programs = tmp_path / "slurm" / "jobs", tmp_path / "slurm" / "bin"
    for folder in (jobs, programs):
        folder.mkdir(parents=True)
    for name in ("sbatch", "squeue", "scancel", "scontrol"):
        (programs / name).write_text(SLURM.format(python=sys.executable, jobs=str(jobs)))
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(executors, "LOST_S", 1.0)
    monkeypatch.setattr("bundle_tools.driver.TOLD_EVERY_S", 0.5)
    monkeypatch.chdir(ROOT)
    yield jobs
    # Dask's objects delete their keys when they go; a later test may have no such folder any more.
    gc.collect()


def described(folder: Path, **options: object) -> Path:
    """Write a file for `--slurm`."""
    known = {"memory": "1GB", "walltime": '"01:00:00"', "interface": "lo", **({} if SECURE else {"security": "null"})}
    file = folder / "slurm.yaml"
    file.write_text("".join(f"{key}: {value}\n" for key, value in (known | options).items() if value is not None))
    return file


@pytest.mark.slow
def test_a_job_that_ends_too_early_is_replaced_and_told(
    slurm: Path, bundle: Path, crashing: Path, one_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, handler = tmp_path / "out", signal.getsignal(signal.SIGINT)

    def kill_the_first_job() -> None:
        wait_for(lambda: [folder for folder in evaluations().values() if str(out) in folder and stage_of(Path(folder))])
        os.killpg(int((slurm / "1").read_text()), signal.SIGKILL)

    killer = Thread(target=kill_the_first_job)
    killer.start()
    assert main(call(bundle, out, crashing, "--slurm", described(tmp_path), "--workers", "1")) == 0
    killer.join()
    printed = capsys.readouterr().out
    assert "1 of 1 jobs ended (1: TIMEOUT); submitting another for each. Logs: " in printed
    assert "Leaderboard row (Practice)" in printed
    assert answers_of(out / "crashing") == answers_of(one_run)
    assert sorted(job.name for job in slurm.iterdir()) == ["1", "2"]
    assert signal.getsignal(signal.SIGINT) is handler
    assert not [folder for folder in evaluations().values() if str(out) in folder]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"queue": "nosuch"}, "sbatch: invalid partition specified: nosuch."),
        ({"queue": "short"}, "no job has started: PENDING (PartitionTimeLimit). Correct the file of --slurm."),
        pytest.param({"queue": "dying"}, "jobs ended before one evaluation did. ", marks=pytest.mark.slow),
        ({"walltime": "12:00:00"}, 'walltime: expected a time in quotes, such as "04:00:00".'),
        ({"walltime": None}, 'walltime: expected a time in quotes, such as "04:00:00".'),
        ({"cores": "two"}, "cores: expected a whole number, found 'two'."),
        ({"qeue": "cpu"}, "unexpected keyword argument 'qeue'"),
        ({"memory": None}, "memory: expected that of a job, models included, such as 8GB."),
    ],
)
def test_jobs_that_cannot_start_end_the_command_with_one_line(
    options: dict[str, object],
    told: str,
    slurm: Path,
    bundle: Path,
    crashing: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(executors, "REFUSED_S", 30.0 if options.get("queue") == "dying" else 0.2)
    file = described(tmp_path, **options)
    assert main(call(bundle, tmp_path / "out", crashing, "--slurm", file, "--workers", "1")) == 1
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1


def test_files_that_are_no_description_and_machines_without_slurm_are_told(
    slurm: Path,
    bundle: Path,
    crashing: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "list.yaml").write_text("- queue")
    monkeypatch.setenv("PATH", "/nowhere")
    for file, told in (
        (tmp_path / "list.yaml", "expected the arguments of SLURMCluster"),
        (tmp_path / "none.yaml", "cannot be read"),
        (described(tmp_path), "there is no sbatch on this machine"),
    ):
        assert main(call(bundle, tmp_path / "out", crashing, "--slurm", file)) == 1
        assert told in capsys.readouterr().err


@pytest.mark.slow
def test_an_interrupted_command_ends_its_jobs(slurm: Path, bundle: Path, crashing: Path, tmp_path: Path) -> None:
    words = call(bundle, tmp_path / "out", crashing, "--slurm", described(tmp_path), "--workers", "1")
    command = [sys.executable, "-m", "bundle_tools.cli.main", *words]
    driver = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    wait_for(
        lambda: [folder for folder in evaluations().values() if str(tmp_path) in folder and stage_of(Path(folder))]
    )
    driver.send_signal(signal.SIGINT)
    assert driver.communicate(timeout=60)[1].endswith("bundle: interrupted.\n")
    assert driver.returncode == 130
    wait_for(lambda: not [folder for folder in evaluations().values() if str(tmp_path) in folder])
