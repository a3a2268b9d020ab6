"""`bundle run` and `submission`: one submission on this machine, and the starting kit's commands."""

import argparse
import subprocess
import sys
import webbrowser
from pathlib import Path

from bundle_tools.cli.options import add_bundle, add_command, add_engine, add_path, add_trust, positive
from bundle_tools.codabench.competition import Competition, find_root, opened
from bundle_tools.codabench.trust import KIT, ensure_trusted, forget_compiled
from bundle_tools.codabench.worker.engine import Docker
from bundle_tools.codabench.worker.jobs import limit_of
from bundle_tools.codabench.worker.run import run_submission
from bundle_tools.console import say
from bundle_tools.errors import BundleError
from bundle_tools.programs import PACKAGES

ENDING = """\
Codabench always pulls the image from a registry, in up to three tries: an image that is only on your machine runs here
and fails there. A time limit covers one job; the two containers of the first job share it. Exit code 0 means finished,
with a complete row.
"""

NEXT = (
    "Next: open the report (--open does), change the model, and tell two runs apart with bundle compare {} OTHER_RUN."
)


def add_run(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    run = add_command(
        commands, "run", "Run a submission as Codabench would, and print its row of the leaderboard.",
        "solutions/cue_reader --open\nmy_submission.zip --phase final --engine docker", ENDING,
    )  # fmt: skip
    run.usage = "bundle run SUBMISSION [options]"
    add_path(run, "submission", "SUBMISSION", "a folder with model.py, or its zip")
    run.add_argument("--phase", metavar="PHASE", help="default: practice, else the first phase")
    add_path(run, "--out", "DIR", "results (default: runs/<submission>-<phase>)")
    add_path(run, "--bundle", "PATH", "folder or zip (default: this folder, else the checkout)")
    add_trust(run)
    add_engine(run)
    run.add_argument("--pull", choices=("never", "missing", "always"), default="never", help="docker: default: never")
    run.add_argument("--gpus", metavar="WHICH", help="docker: GPUs for the containers, such as all")
    run.add_argument("--over-limit", choices=("run", "kill"), default="run",
                     help="a job over its time limit runs on (default, as 1.25 does) or fails")  # fmt: skip
    run.add_argument("--time-limit", metavar="S", type=positive, help="seconds per job (default: the phase's limit)")
    add_path(run, "--data", "DIR", "the worker's /app/data (default: empty)")
    run.add_argument("--open", action="store_true", help="open the report in a browser")
    run.set_defaults(action=_run)


def _run(arguments: argparse.Namespace) -> int:
    with opened(arguments.bundle, trust=arguments.trust) as competition:
        return _run_in(competition, arguments)


def _run_in(competition: Competition, arguments: argparse.Namespace) -> int:
    phase = competition.phase(arguments.phase) if arguments.phase else competition.default_phase()
    submission: Path = arguments.submission
    out: Path = arguments.out or Path("runs") / f"{submission.resolve().stem}-{phase.slug}"
    docker = None
    if arguments.engine == "docker":
        image = arguments.image or competition.docker_image
        docker = Docker(image, arguments.network, arguments.pull, arguments.gpus)
    else:
        for name in ("image", "gpus"):
            if getattr(arguments, name) is not None:
                say(f"WARNING: --{name} is ignored: the process engine runs no container. Add --engine docker.")
    limit = limit_of(competition, phase, kill=arguments.over_limit == "kill", override_s=arguments.time_limit)
    verdicts = run_submission(competition, phase, submission, out, docker, limit, arguments.data)
    alone = len(verdicts) == 1
    for task, verdict in verdicts:
        say()
        for line in verdict.lines(phase.name if alone else f"{phase.name}, {task}", competition.columns):
            say(line)
    wrong = [
        f"{verdict.status}: {verdict.reason}" if alone else f"task {task}: {verdict.status}: {verdict.reason}"
        for task, verdict in verdicts
        if not verdict.good
    ]
    for _, verdict in verdicts:
        if verdict.report is not None and arguments.open:
            webbrowser.open(verdict.report.resolve().as_uri())
    if wrong:
        raise BundleError("; ".join(wrong))
    say(NEXT.format(out))
    return 0


def add_submission(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    submission = add_command(
        commands, "submission", "Check a submission and pack it.", "check my_submission --run 3\npack my_submission"
    )
    actions = submission.add_subparsers(required=True, metavar="COMMAND")
    check = add_command(
        actions, "submission check", "List every problem of a submission, with the fix.", "my_submission --run 3"
    )
    check.add_argument("--run", metavar="N", type=positive, help="also run the first clips, such as 3")
    pack = add_command(actions, "submission pack", "Check a submission, then write its zip.", "my_submission")
    add_path(pack, "--out", "FILE", "default: the folder's name with .zip")
    for name, action in (("check", check), ("pack", pack)):
        add_path(action, "submission", "SUBMISSION", "a folder with model.py, or its zip")
        add_bundle(action)
        action.set_defaults(action=_call_kit, command=name)


def _call_kit(arguments: argparse.Namespace) -> int:
    """Call `kit.py` of the starting kit."""
    root = find_root(arguments.bundle)
    path = root / KIT / "kit.py"
    if not path.is_file():
        raise BundleError(f"{path}: no such file. Expected the starting kit of this project.")
    if not arguments.trust:
        ensure_trusted([(kind, root / kind) for kind in (KIT, *PACKAGES)])
    for kind in (KIT, *PACKAGES):
        forget_compiled(root / kind)
    options = [(f"--{name}", vars(arguments).get(name)) for name in ("run", "out")]
    words = [str(word) for option in options if option[1] is not None for word in option]
    call = [sys.executable, str(path), arguments.command, str(arguments.submission), *words]
    return subprocess.run(call, check=False).returncode  # noqa: S603 - no shell
