"""All steps of ingestion: check settings, data and submission, run the clips, write the record of the run."""

import sys
import traceback
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from ingest import DEFAULTS, VERSION
from ingest.capacity import Meter, blame, has_gpu, workers_for
from ingest.causes import CAUSES
from ingest.clock import Clock
from ingest.confine import ProcessGroup, end_descendants, harden_process
from ingest.data import Dataset, read_dataset
from ingest.draws import KeyedRandom
from ingest.errors import IngestionError, Problem
from ingest.keeper import KeyKeeper
from ingest.limits import RunDeadline
from ingest.log import Log
from ingest.model import ModelProcess
from ingest.pool import WorkerPool
from ingest.record import (
    NO_ROOM,
    hold_room,
    open_private,
    publish,
    run_record,
    write_manifest,
    write_run,
    write_text,
)
from ingest.record_writer import RecordWriter
from ingest.results import ResultsReader, older_names
from ingest.runner import Runner
from ingest.settings import Task, read_task
from ingest.stats import Feedback, RunStats, RunStatus
from ingest.submission import (
    Credit,
    Fingerprint,
    Training,
    check_submission,
    fingerprint,
    read_credits,
    read_training,
)
from ingest.workers import ModelWorker

EXIT_CODES: dict[RunStatus, int] = {"complete": 0, "partial": 0, "invalid": 1, "organiser_error": 2}
SETTINGS = "task.yaml"
REPORT = (
    "to see the report on Codabench, even of a failed submission, click the submission, then VISUALIZATION; if nothing "
    "appears, open /competitions/COMPETITION/detailed_results/SUBMISSION/ with the two numbers"
)
"""Last line of the log on Codabench: the owner of a failed submission to a closed phase sees nothing else."""


@dataclass
class _Run:
    """A run in progress; its record is written by the main thread or, if that hangs, by the watchdog."""

    input_data: Path
    output: Path
    """Where the complete record is put."""
    folder: Path
    """Where the record is written during the run."""
    clock: Clock
    keeper: KeyKeeper
    log: Log
    room: IO[bytes]
    stats: RunStats = field(default_factory=RunStats)
    meter: Meter = field(default_factory=Meter)
    task: Task | None = None
    fingerprint: Fingerprint | None = None
    credits: tuple[Credit, ...] = ()
    training: Training | None = None
    dataset: Dataset = field(default_factory=lambda: Dataset([], {}, {}, {}))
    results: RecordWriter | None = None

    @property
    def hidden(self) -> bool:
        """Whether participants must not see what their model says."""
        return self.task is not None and not self.task.feedback.model_output

    def seal(self) -> None:
        """Write the summary, `run.json` and the manifest."""
        elapsed_s = self.clock.elapsed_s()
        used = self.meter.read(elapsed_s)
        timeouts = any(code == "timeout" for code, _ in self.stats.clip_problems)
        self.stats.problems = blame(
            self.stats.problems,
            used,
            elapsed_s,
            timeouts=timeouts,
            share=self.stats.share,
            budget_s=self.clock.budget_s,
        )
        self.stats.summarise(self.log)
        self.log.line(f"{self.stats.status} after {self.clock.elapsed_s():.1f} s", summary=True)
        if self.output == Path(DEFAULTS[1]):
            self.log.line(REPORT, summary=True)
        self.log.close()
        self.room.close()
        settings = self.input_data / SETTINGS
        submitted = (self.fingerprint, self.credits, self.training)
        record = run_record(self.stats, self.clock, self.task, settings, submitted, used)
        write_run(self.folder, record)
        write_manifest(self.folder, self.keeper.sign if self.keeper.keyed else None)
        publish(self.folder, self.output)

    def flush_partial_run(self) -> bool:
        """End the run for a main thread that hangs; return whether every clip had been run."""
        end_descendants()
        problem = CAUSES["watchdog"].as_problem("run", "ingestion", elapsed_s=self.clock.elapsed_s())
        whole = False
        if self.results is None:
            self.stats.end("organiser_error", [problem])
        else:
            left = self.results.cut_off([clip.clip_id for clip in self.dataset.clips])
            whole = self.stats.whole
            self.stats.clips["not_reached"] += left
            if whole:  # it hung in the repetition, which costs nothing
                self.stats.warn([replace(problem, severity="warning")], self.log)
            else:
                self.stats.end("partial", [problem])
        self.seal()
        return whole


def run(
    *,
    input_data: Path,
    output: Path,
    program: Path,
    submission: Path,
    packages: Path | None,
    clock: Clock,
    keeper: KeyKeeper,
) -> int:
    """Run ingestion and return its exit code.

    Parameters
    ----------
    input_data
        The phase's input folder, with `task.yaml`.
    output
        An empty folder, which gets the files of the output format.
    program
        The folder of this program.
    submission
        The participant's unzipped submission.
    packages
        Where the program's packages were installed for this run; None if the image has them.
    clock
        Started with the program: installing packages counts towards the same budget.
    keeper
        Has taken the key out of `program`, and seals the record.

    Raises
    ------
    OSError
        When no record can be written to the output folder.
    """
    harden_process()
    folder = open_private(output)
    run = _Run(input_data, output, folder, clock, keeper, Log(folder / "log.txt"), hold_room(folder))
    run.log.line(f"version {VERSION}, program in {program}")
    watchdog = RunDeadline(run.flush_partial_run)
    try:
        if keeper.problems:
            raise IngestionError(keeper.problems)
        _run(run, submission, packages, watchdog)
    except IngestionError as error:
        run.stats.end("organiser_error", error.problems)
    except Exception as error:  # noqa: BLE001 - without a record of the run scoring could not say what happened
        run.stats.end("organiser_error", [_unexpected(error, output, hidden=run.hidden)])
    watchdog.disarm()
    run.seal()
    return EXIT_CODES[run.stats.status]


def _run(run: _Run, submission: Path, packages: Path | None, watchdog: RunDeadline) -> None:
    task = run.task = read_task(run.input_data / SETTINGS)
    run.clock.set_limit(task.limits.time_limit_s)
    run.stats.hidden = run.hidden
    watchdog.start(task.limits.time_limit_s, run.clock.elapsed_s())
    run.log.line(f"task {task.name}, data {task.data_version}: checking the clips")
    run.dataset = read_dataset(run.input_data, task)
    run.stats.total = len(run.dataset.clips)
    problems = check_submission(submission, task.limits, results=task.results)
    run.fingerprint = fingerprint(submission)
    if any(problem.severity == "error" for problem in problems):
        run.stats.end("invalid", problems)
        return
    run.credits, doubts = read_credits(submission)
    run.training, mistakes = read_training(submission, [target.name for target in task.targets])
    run.stats.warn([*problems, *doubts, *mistakes], run.log)
    feedback = Feedback(submission, tuple(target.name for target in task.targets), hidden=run.hidden)
    results = run.results = RecordWriter(run.folder, task.targets)
    if not task.results or (submission / "model.py").is_file():
        pool = _models(run, task, submission, packages)
    else:
        run.stats.results = True
        listed = None if task.aliases_file is None else run.input_data / task.aliases_file
        names = older_names(listed, [clip.clip_id for clip in run.dataset.clips])
        reader = ResultsReader(submission, packages, task, names)
        pool = WorkerPool([ModelWorker(reader, task, run.clock, hidden=run.hidden)], task.limits)
    runner = Runner(task, pool, results, run.clock, run.log, run.stats, feedback)
    runner.run(run.dataset, KeyedRandom(run.keeper.sign, task.seed))
    output = pool.output()
    if task.feedback.model_output and output:
        write_text(run.folder, "model_output.txt", output.decode("utf-8", "backslashreplace"))
        run.log.line(f"the model printed text: its last {len(output)} bytes are in model_output.txt", summary=True)


def _models(run: _Run, task: Task, submission: Path, packages: Path | None) -> WorkerPool:
    """Return the workers that run the submission's model: one, or as many as there is room for."""
    workers = min(workers_for(task.limits.workers, task.limits.memory_mb), max(1, len(run.dataset.clips)))
    if task.environment == "gpu" and not has_gpu():
        run.stats.warn([replace(CAUSES["gpu"].as_problem("run", "this machine"), severity="warning")], run.log)
    group = ProcessGroup(workers)
    pool = [
        ModelWorker(
            ModelProcess(submission, packages, task.limits, task.isolation, group),
            task,
            run.clock,
            hidden=run.hidden,
        )
        for _ in range(workers)
    ]
    return WorkerPool(pool, task.limits)


def _unexpected(error: Exception, output: Path, *, hidden: bool) -> Problem:
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        return CAUSES["disk"].as_problem("run", str(output))
    # The text of an exception may quote what a model sent.
    found = type(error).__name__
    if hidden:
        sys.stderr.writelines(traceback.format_tb(error.__traceback__))
    else:
        traceback.print_exc()
        found = f"{found}: {' '.join(str(error).split())}"[:300]
    return CAUSES["program"].as_problem("run", "ingestion", found=found)
