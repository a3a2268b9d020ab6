"""The two jobs of a submission, as the worker runs them: predict (ingestion), then score."""

from dataclasses import dataclass
from pathlib import Path

import yaml

from bundle_tools.archive import copy_tree, place, zip_folder
from bundle_tools.competition import Task
from bundle_tools.console import say
from bundle_tools.emulator import command as commands
from bundle_tools.emulator.engine import Container, Engine, Outcome
from bundle_tools.errors import BundleError


@dataclass(frozen=True)
class Job:
    """What a job leaves behind."""

    output: Path
    """The program's `/app/output`, with the worker's own `metadata` in it."""
    outcome: Outcome | None
    """How its program ended; None where nothing ran."""


def prediction_job(task: Task, submission: Path, work: Path, engine: Engine, logs: Path) -> Job:
    """Run the ingestion program on a submission (job 1).

    Parameters
    ----------
    submission
        The submission's zip.
    work
        An empty folder of this job.

    Raises
    ------
    BundleError
        When the submission's or a program's zip cannot be read, or the output holds a `metadata`.
    """
    app, zips = work / "app", work / "bundles"
    ingested, output, input_data = app / "ingested_program", app / "output", app / "input_data"
    place(submission, ingested, zips / "submission.zip")
    output.mkdir(parents=True)
    input_data.mkdir()
    if task.input_data is not None:
        place(task.input_data, input_data, zips / "input_data.zip")

    own = commands.read_metadata(ingested)
    submitted: Outcome | None = None
    if not own.present:
        # Everything submitted lies in the output before ingestion starts, and later in the results that scoring reads.
        copy_tree(ingested, output)
    elif own.command is not None:
        # The submission brings its own command: it runs first, in its own container, on the same output.
        mounts = {"/app/program": ingested, "/app/output": output, "/app/input_data": input_data}
        submitted = _run_in_prediction_job("submission", own.command, mounts, engine, logs)

    ingestion: Outcome | None = None
    if task.ingestion_program is not None:
        program = app / "program"
        place(task.ingestion_program, program, zips / "ingestion_program.zip")
        metadata = commands.read_metadata(program)
        if metadata.command is None:
            say(f"Ingestion program: {metadata.problem}. The platform runs nothing here and goes on to scoring.")
        else:
            mounts = {
                "/app/program": program,
                "/app/ingested_program": ingested,
                "/app/output": output,
                "/app/input_data": input_data,
            }
            ingestion = _run_in_prediction_job("ingestion", metadata.command, mounts, engine, logs)
    _write_worker_metadata(output, program=submitted, ingestion=ingestion)
    return Job(output, ingestion)


def scoring_job(task: Task, predictions: Path, work: Path, engine: Engine, logs: Path) -> Job:
    """Run the scoring program on the output of job 1 (job 2); it never sees the input data.

    Raises
    ------
    BundleError
        When a zip cannot be read, there is nothing that can be run, or the output holds a `metadata`.
    """
    app, zips = work / "app", work / "bundles"
    program, output = app / "program", app / "output"
    place(task.scoring_program, program, zips / "scoring_program.zip")
    for folder in (output, app / "shared", app / "input" / "ref", app / "input" / "res"):
        folder.mkdir(parents=True)
    if task.reference_data is not None:
        place(task.reference_data, app / "input" / "ref", zips / "reference_data.zip")
    place(predictions, app / "input" / "res", zips / "predictions.zip")

    metadata = commands.read_metadata(program)
    if metadata.command is None:
        raise BundleError(f"Scoring program: {metadata.problem}. The platform says: could not find scores file.")
    mounts = {
        "/app/program": program,
        "/app/output": output,
        "/app/input": app / "input",
        "/app/shared": app / "shared",
    }
    arguments = commands.arguments(metadata.command, "scoring")
    outcome = engine.run(Container("scoring", mounts, arguments), logs)
    _write_worker_metadata(output, program=outcome, ingestion=None)
    return Job(output, outcome)


def links_in(folder: Path) -> list[str]:
    """Name the links below a folder: the worker would follow them on its own file system when it zips."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_symlink())


def pack(output: Path, archive: Path) -> None:
    """Zip an output for the next job, and say so where it holds links."""
    links = links_in(output)
    if links:
        say(f"Warning: the output holds links, which the worker follows on its own disk: {', '.join(links[:5])}.")
    zip_folder(output, archive)


def _run_in_prediction_job(
    role: commands.Role, command: str, mounts: dict[str, Path], engine: Engine, logs: Path
) -> Outcome | None:
    """Run one container of job 1; a command that cannot be run is told, and swallowed as the worker swallows it."""
    try:
        arguments = commands.arguments(command, role)
    except BundleError as error:
        say(f"{error} The platform runs nothing here and goes on to scoring.")
        return None
    return engine.run(Container(role, mounts, arguments), logs)


def _write_worker_metadata(output: Path, *, program: Outcome | None, ingestion: Outcome | None) -> None:
    path = output / "metadata"
    if path.exists() or path.is_symlink():
        raise BundleError(
            f"{path.name}: the output already holds it; the worker writes this file itself and the run fails. "
            "A program must not create it."
        )
    main = program or ingestion
    content = {
        "elapsedTime": main.elapsed_s if main else None,
        "exitCode": program.exit_code if program else None,
        "ingestionElapsedTime": ingestion.elapsed_s if ingestion else None,
        "ingestionExitCode": ingestion.exit_code if ingestion else None,
    }
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
