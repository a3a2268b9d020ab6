"""`bundle evaluate`: submissions on all cores of a machine, or on a cluster, with the bytes of `bundle run`."""

import argparse
import json
from pathlib import Path

from bundle_tools.atomic import replaced
from bundle_tools.cli.options import add_command, add_path, count
from bundle_tools.cli.runs.shard import add_making, made_by
from bundle_tools.cluster.clusters import executor
from bundle_tools.cluster.drive import Driver
from bundle_tools.cluster.plan import Plan, copy_data, make, source
from bundle_tools.codabench.archive import copy_tree
from bundle_tools.codabench.competition import Competition, Phase, Task, opened
from bundle_tools.codabench.worker.engine import Outcome, prepare
from bundle_tools.codabench.worker.jobs import Job, limit_of
from bundle_tools.codabench.worker.run import run_submission
from bundle_tools.console import say
from bundle_tools.errors import BundleError

ENDING = """\
Predictions, explanations, pictures, the second pass and scores are those of `bundle run`, byte for byte. Called again
after a stop, it runs only what is missing. DIR/<submission> is a folder as `bundle run` makes it; DIR/shards keeps the
results of all shards. docs/scaling.md tells when a cluster pays, and what it needs:

  Slurm       --slurm FILE --workers 16
              FILE is YAML with the arguments of dask-jobqueue's SLURMCluster, such as
              {queue: cpu, memory: 8GB, walltime: "04:00:00"}; each worker is a job.
  SSH         dask ssh --nworkers 2 --nthreads 1 HOST1 HOST2
              --scheduler tcp://HOST1:8786 --workers 4
  Kubernetes  A DaskCluster of Dask's operator, whose workers have your image, this checkout and a shared volume.
              In a pod with the same volume: --scheduler tcp://NAME-scheduler:8786 --workers 16
"""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    evaluate = add_command(
        commands, "evaluate", "Evaluate submissions on all cores, with the results of `bundle run`.",
        "one.zip two.zip --phase final --out evaluated\nmy_submission --out evaluated --workers 8 --verify 3", ENDING,
    )  # fmt: skip
    add_path(evaluate, "submissions", "SUBMISSION", "a folder with model.py, or its zip", nargs="+")
    add_path(evaluate, "--out", "DIR", "results of all", required=True)
    evaluate.add_argument(
        "--verify", metavar="K", type=count, default=0, help="run K drawn shards of each again, and compare"
    )
    add_making(evaluate)
    where = evaluate.add_mutually_exclusive_group()
    where.add_argument("--scheduler", metavar="ADDRESS", help="run the shards on the workers of a Dask scheduler")
    add_path(where, "--slurm", "FILE", "run the shards in Slurm jobs")
    evaluate.set_defaults(action=_evaluate)


def _evaluate(arguments: argparse.Namespace) -> int:
    with opened(arguments.bundle) as competition:
        return _evaluate_in(competition, arguments)


def _evaluate_in(competition: Competition, arguments: argparse.Namespace) -> int:
    phase = competition.phase(arguments.phase) if arguments.phase else competition.default_phase()
    submissions: dict[str, Path] = {path.resolve().stem: path for path in arguments.submissions}
    if len(submissions) < len(arguments.submissions) or "shards" in submissions:
        raise BundleError("expected submissions with names of their own, other than `shards`: each gets a folder.")
    with executor(arguments.workers, arguments.scheduler, arguments.slurm) as pool:
        plans = _plans(arguments, competition, phase, submissions)
        wrong = Driver(pool, arguments.workers).run([(plan, phase.task) for plan in plans], arguments.verify)
    problems = [str(error) for error in wrong if error is not None]
    for plan, error, (name, submission) in zip(plans, wrong, submissions.items(), strict=True):
        if error is None:
            problems += _score(competition, phase, submission, arguments.out / name, plan)
    if problems:
        raise BundleError("; ".join(problems))
    return 0


def _plans(
    arguments: argparse.Namespace, competition: Competition, phase: Phase, submissions: dict[str, Path]
) -> list[Plan]:
    made = made_by(arguments, competition.docker_image)
    folder = arguments.out / "shards"
    data = folder / ".data"
    if not data.exists():
        with replaced(data) as unfinished:
            copy_data(source(phase.task.input_data, "input data"), unfinished)
    plans = [make(folder / name, phase.task, submission, made, data) for name, submission in submissions.items()]
    for note in prepare(plans[0].engine()):
        say(note)
    return plans


def _score(competition: Competition, phase: Phase, submission: Path, out: Path, plan: Plan) -> list[str]:
    """Run the second job on a merged record; return what was wrong."""

    def merged(job: Job, task: Task, packed: Path) -> None:
        copy_tree(plan.merged, job.output)
        # Scoring believes a sealed record only after an ingestion that ended well.
        job.ingestion = Outcome(0, json.loads((plan.merged / "run.json").read_text("utf-8"))["duration_s"])
        job.finish()

    limit = limit_of(competition, phase, kill=False)
    [(_, verdict)] = run_submission(competition, phase, submission, out, plan.engine(), limit, predict=merged)
    say()
    for line in verdict.lines(phase.name, competition.columns):
        say(line)
    return [] if verdict.good else [f"{submission.name}: {verdict.status}: {verdict.reason}"]
