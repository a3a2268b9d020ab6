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
from ingest.confine import Siblings, end_descendants, harden_process
from ingest.data import Footage, read_footage
from ingest.draws import Draws
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
    footage: Footage = field(default_factory=lambda: Footage([], {}, {}, {}))
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
        self.stats.problems = blame(self.stats.problems, used, elapsed_s, timeouts=timeouts)
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
            left = self.results.cut_off([clip.clip_id for clip in self.footage.clips])
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
    this = _Run(input_data, output, folder, clock, keeper, Log(folder / "log.txt"), hold_room(folder))
    this.log.line(f"version {VERSION}, program in {program}")
    watchdog = RunDeadline(this.flush_partial_run)
    try:
        if keeper.problems:
            raise IngestionError(keeper.problems)
        _run(this, submission, packages, watchdog)
    except IngestionError as error:
        this.stats.end("organiser_error", error.problems)
    except Exception as error:  # noqa: BLE001 - without a record of the run scoring could not say what happened
        this.stats.end("organiser_error", [_unexpected(error, output, hidden=this.hidden)])
    watchdog.disarm()
    this.seal()
    return EXIT_CODES[this.stats.status]


def _run(this: _Run, submission: Path, packages: Path | None, watchdog: RunDeadline) -> None:
    task = this.task = read_task(this.input_data / SETTINGS)
    this.clock.set_limit(task.limits.time_limit_s)
    this.stats.hidden = this.hidden
    watchdog.start(task.limits.time_limit_s, this.clock.elapsed_s())
    this.log.line(f"task {task.name}, data {task.data_version}: checking the clips")
    this.footage = read_footage(this.input_data, task)
    this.stats.total = len(this.footage.clips)
    problems = check_submission(submission, task.limits, results=task.results)
    this.fingerprint = fingerprint(submission)
    if any(problem.severity == "error" for problem in problems):
        this.stats.end("invalid", problems)
        return
    this.credits, doubts = read_credits(submission)
    this.training, mistakes = read_training(submission, [target.name for target in task.targets])
    this.stats.warn([*problems, *doubts, *mistakes], this.log)
    feedback = Feedback(submission, tuple(target.name for target in task.targets), hidden=this.hidden)
    results = this.results = RecordWriter(this.folder, task.targets)
    if not task.results or (submission / "model.py").is_file():
        pool = _models(this, task, submission, packages)
    else:
        this.stats.results = True
        listed = None if task.aliases_file is None else this.input_data / task.aliases_file
        names = older_names(listed, [clip.clip_id for clip in this.footage.clips])
        reader = ResultsReader(submission, packages, task, names)
        pool = WorkerPool([ModelWorker(reader, task, this.clock, hidden=this.hidden)], task.limits)
    runner = Runner(task, pool, results, this.clock, this.log, this.stats, feedback)
    runner.run(this.footage, Draws(this.keeper.sign, task.seed))
    said = pool.output()
    if task.feedback.model_output and said:
        write_text(this.folder, "model_output.txt", said.decode("utf-8", "backslashreplace"))
        this.log.line(f"the model printed text: its last {len(said)} bytes are in model_output.txt", summary=True)


def _models(this: _Run, task: Task, submission: Path, packages: Path | None) -> WorkerPool:
    """Return the workers that run the submission's model: one, or as many as there is room for."""
    workers = min(workers_for(task.limits.workers, task.limits.memory_mb), max(1, len(this.footage.clips)))
    if task.environment == "gpu" and not has_gpu():
        this.stats.warn([replace(CAUSES["gpu"].as_problem("run", "this machine"), severity="warning")], this.log)
    siblings = Siblings(workers)
    pool = [
        ModelWorker(
            ModelProcess(submission, packages, task.limits, task.isolation, siblings),
            task,
            this.clock,
            hidden=this.hidden,
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
