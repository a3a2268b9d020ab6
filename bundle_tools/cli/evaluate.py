"""`bundle evaluate`: submissions side by side on this machine, or on a cluster, with the results of `bundle run`."""

import argparse
import random
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bundle_tools.cli.options import add_command, add_engine, add_path, add_trust, add_workers, count
from bundle_tools.codabench.competition import Competition, opened
from bundle_tools.codabench.trust import code_of, ensure_trusted
from bundle_tools.codabench.worker.run import MARKER, refuse_what_is_elsewhere
from bundle_tools.console import say
from bundle_tools.driver import Driver, at_work
from bundle_tools.errors import BundleError
from bundle_tools.evaluation import EvaluationTask, answers_of, evaluate, key_of
from bundle_tools.executors import DaskWorkers, LocalWorkers, workers_of

ENDING = """\
Each submission gets a folder in DIR as `bundle run` makes it. Called again after a stop, it evaluates only those
without a good result. docs/scaling.md tells when a cluster pays, and what it needs:

  Slurm       --slurm FILE --workers 16
              FILE is YAML with the arguments of dask-jobqueue's SLURMCluster, such as
              {queue: cpu, memory: 8GB, walltime: "04:00:00"}; each worker is a job.
  SSH         dask ssh --nworkers 2 --nthreads 1 HOST1 HOST2
              --scheduler tcp://HOST1:8786
  Kubernetes  A DaskCluster of Dask's operator, whose workers have your image, this checkout and a shared volume.
              In a pod with the same volume: --scheduler tcp://NAME-scheduler:8786
"""
JOBS = "jobs"
"""Folder for the logs of Slurm jobs."""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = add_command(
        commands, "evaluate", "Evaluate submissions side by side, with the results of `bundle run`.",
        "one.zip two.zip --phase final --out evaluated\nmy_submission --out evaluated --verify 1", ENDING,
    )  # fmt: skip
    add_path(parser, "submissions", "SUBMISSION", "a folder with model.py, or its zip", nargs="+")
    add_path(parser, "--out", "DIR", "results of all", required=True)
    parser.add_argument(
        "--verify", metavar="K", type=count, default=0, help="evaluate K drawn submissions again, and compare"
    )
    parser.add_argument("--phase", metavar="PHASE", help="default: practice, else the first phase")
    add_path(parser, "--bundle", "PATH", "folder or zip (default: this folder, else the checkout)")
    add_trust(parser)
    add_engine(parser)
    add_workers(parser, "submissions")
    parser.set_defaults(action=_evaluate)


def _evaluate(arguments: argparse.Namespace) -> int:
    out: Path = arguments.out.absolute()
    names = [path.resolve().stem for path in arguments.submissions]
    if len({*names, JOBS}) <= len(names):
        raise BundleError(f"expected submissions with names of their own, other than `{JOBS}`: each gets a folder.")
    for name in names:
        if (out / name).exists() and not (out / name / MARKER).is_file():
            raise BundleError(f"--out {out / name}: contains files of something else. Choose another folder.")
    with opened(arguments.bundle, trust=arguments.trust) as competition:
        evaluations = _planned(competition, arguments, out, names)
    with (
        at_work(out, Path(evaluations[0].alive), "evaluate"),
        workers_of(arguments.workers, arguments.scheduler, arguments.slurm, out) as pool,
    ):
        models = pool.models(len(evaluations))
        evaluations = [replace(evaluation, models=models) for evaluation in evaluations]
        problems = Driver(pool, evaluate).run(evaluations)
        if arguments.verify and not problems:
            problems = _verify(pool, random.SystemRandom().sample(evaluations, min(arguments.verify, len(names))))
    if problems:
        raise BundleError("; ".join(problems))
    return 0


def _planned(
    competition: Competition, arguments: argparse.Namespace, out: Path, names: Sequence[str]
) -> list[EvaluationTask]:
    phase = competition.phase(arguments.phase) if arguments.phase else competition.default_phase()
    refuse_what_is_elsewhere(competition.root, phase)
    ensure_trusted(code_of(phase.tasks))
    image = (arguments.image or competition.docker_image) if arguments.engine == "docker" else None
    bundle = arguments.bundle.absolute() if arguments.bundle else competition.root
    return [
        EvaluationTask(
            submission=str(path.absolute()),
            bundle=str(bundle),
            phase=phase.slug,
            out=str(out / name),
            image=image,
            network=arguments.network,
            models=1,
            key=key_of(competition, phase, path, image),
            alive=str(out / ".driver"),
        )
        for path, name in zip(arguments.submissions, names, strict=True)
    ]


def _verify(pool: LocalWorkers | DaskWorkers, evaluations: Sequence[EvaluationTask]) -> list[str]:
    """Evaluate submissions again elsewhere; return those whose answers differ."""
    out = Path(evaluations[0].out).parent
    with tempfile.TemporaryDirectory(prefix=".verify-", dir=out) as folder:
        again = [replace(evaluation, out=str(Path(folder) / evaluation.name)) for evaluation in evaluations]
        if problems := Driver(pool, evaluate).run(again):
            return problems
        for first, second in zip(evaluations, again, strict=True):
            first_run, second_run = answers_of(Path(first.out)), answers_of(Path(second.out))
            if names := sorted(
                name for name in first_run.keys() | second_run.keys() if first_run.get(name) != second_run.get(name)
            ):
                problems.append(
                    f"evaluation_differs: {first.name}: a second run gave other answers ({', '.join(names[:3])}). The "
                    "model keeps state between clips, or the machines are not alike."
                )
    say(f"{len(evaluations)} evaluated again, {len(evaluations) - len(problems)} with the same answers")
    return problems
