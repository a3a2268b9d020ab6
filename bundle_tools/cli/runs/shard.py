"""`bundle shard`: an evaluation step by step, for any engine that can call a command."""

import argparse
import sys

from bundle_tools.cli.options import add_command, add_engine, add_path, count, positive, workers
from bundle_tools.cluster.plan import Plan, make
from bundle_tools.cluster.shard import run_shard
from bundle_tools.codabench.competition import Competition, opened
from bundle_tools.console import say
from bundle_tools.errors import BundleError

ENDING = """\
Each call plans the next stage, or merges: run what it prints, and call it again until it prints nothing more to run. A
shard on a machine that must not hold the plan's secret.key reads its own key, 64 hexadecimal digits, from standard
input: `bundle shard key` prints it.
"""
PLAN = "a folder of `bundle shard plan` or `bundle evaluate`"


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    shard = add_command(
        commands, "shard", "Evaluate a submission in shards, on any engine that can call a command.",
        "plan my_submission.zip --phase final --out plan\nrun plan first 0", ENDING,
    )  # fmt: skip
    actions = shard.add_subparsers(required=True, metavar="COMMAND")
    plan = add_command(
        actions, "shard plan", "Freeze an evaluation, plan its next stage, or merge its results.",
        "my_submission.zip --phase final --out plan",
    )  # fmt: skip
    add_path(plan, "submission", "SUBMISSION", "a folder with model.py, or its zip")
    add_path(plan, "--out", "PLAN", "folder of the plan", required=True)
    add_making(plan)
    plan.set_defaults(action=_plan)
    run = add_command(actions, "shard run", "Run one shard; its result appears as a whole, sealed.", "plan first 0")
    key = add_command(actions, "shard key", "Print the one-time key of a shard.", "plan first 0")
    for action, does in ((run, _run), (key, _key)):
        add_path(action, "plan", "PLAN", PLAN)
        action.add_argument("stage", metavar="STAGE", help="first, again, second or repeats")
        action.add_argument("index", metavar="INDEX", type=count, help="number of the shard in its stage")
        action.set_defaults(action=does)
    add_path(run, "--out", "DIR", "where the result appears (default: where PLAN looks)")


def add_making(parser: argparse.ArgumentParser) -> None:
    """Add the options with which a plan is made."""
    parser.add_argument("--phase", metavar="PHASE", help="default: practice, else the first phase")
    add_path(parser, "--bundle", "PATH", "folder or zip (default: this folder, else the checkout)")
    add_engine(parser)
    parser.add_argument(
        "--workers", metavar="N", type=positive, default=workers(), help="default: this machine's cores"
    )
    parser.add_argument(
        "--clips", metavar="N", type=positive, default=50, help="most clips of a first shard (default: 50)"
    )


def made_by(arguments: argparse.Namespace, image: str) -> dict[str, object]:
    """Return how a plan is made."""
    return {
        "image": (arguments.image or image) if arguments.engine == "docker" else None,
        "network": arguments.network,
        "workers": arguments.workers,
        "clips": arguments.clips,
    }


def _plan(arguments: argparse.Namespace) -> int:
    with opened(arguments.bundle) as competition:
        return _plan_in(competition, arguments)


def _plan_in(competition: Competition, arguments: argparse.Namespace) -> int:
    phase = competition.phase(arguments.phase) if arguments.phase else competition.default_phase()
    made = made_by(arguments, competition.docker_image)
    plan = make(arguments.out, phase.task, arguments.submission, made)
    with plan.held():
        if not plan.merged.exists() and not plan.missing():
            plan.step(phase.task)
        for stage, index in plan.missing():
            say(f"bundle shard run {arguments.out} {stage} {index}")
    if plan.merged.exists():
        say(f"Nothing more to run: {plan.merged} holds the record of the whole run.")
    return 0


def _run(arguments: argparse.Namespace) -> int:
    plan = Plan(arguments.plan)
    key = plan.key(arguments.stage, arguments.index) if plan.has_secret else _given_key()
    run_shard(arguments.plan, arguments.stage, arguments.index, arguments.out or plan.done, key)
    return 0


def _given_key() -> bytes:
    text = sys.stdin.readline().strip()
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != 32:
        raise BundleError("standard input: expected the shard's key, 64 hexadecimal digits of `bundle shard key`.")
    return key


def _key(arguments: argparse.Namespace) -> int:
    say(Plan(arguments.plan).key(arguments.stage, arguments.index).hex())
    return 0
