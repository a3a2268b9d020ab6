"""Statistics of a run: counts, problems, and whether the run can be judged."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from ingest.errors import Problem

if TYPE_CHECKING:  # a run without packages is recorded, too
    from ingest.log import Log
    from ingest.pool import WorkerPool
    from ingest.record.feedback import Feedback
    from ingest.record.receipt import Determinism
    from model_process.sandbox import Isolated

RunStatus = Literal["complete", "partial", "invalid", "organiser_error"]
ClipStatus = Literal["ok", "failed", "not_reached", "unreadable"]
CLIP_STATUSES: tuple[ClipStatus, ...] = ("ok", "failed", "not_reached", "unreadable")
SUMMARISED = 12
ENOUGH_TO_COMPARE = 3
NAMED_CALLS = 5


@dataclass
class ProbeCount:
    """Progress of the second pass."""

    planned: int = 0
    asked: int = 0
    answered: int = 0
    duration_s: float = 0.0
    """Seconds of the whole pass."""
    again: Determinism | None = None
    """Result of asking some of them again in a fresh process; None if that was not done."""

    def record(self) -> dict[str, Any]:
        """Return the counts as written to `run.json`."""
        return {
            "planned": self.planned,
            "asked": self.asked,
            "answered": self.answered,
            "duration_s": round(self.duration_s, 3),
            "again": self.again and asdict(self.again),
        }


@dataclass
class RunStats:
    """Collected during a run, for `run.json` and the summary."""

    hidden: bool = False
    """Whether the log must not say what happened to single clips."""
    status: RunStatus = "complete"
    total: int = 0
    clips: Counter[ClipStatus] = field(default_factory=Counter)
    """Number of clips by status."""
    problems: list[Problem] = field(default_factory=list)
    clip_problems: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Number of clips with each problem, by (code, where)."""
    examples: dict[tuple[str, str], Problem] = field(default_factory=dict)
    participant_codes: set[str] = field(default_factory=set)
    """Codes of errors on clips that the participant can correct."""
    load_s: float = 0.0
    """Time to load the model, seconds."""
    waited_s: float = 0.0
    """How long the submission's process waited for a processor, seconds."""
    workers: int = 1
    """Largest number of model processes side by side."""
    refused: Counter[str] = field(default_factory=Counter)
    """System calls that were refused, by name."""
    restarts: int = 0
    """How often the model process was restarted."""
    held: Isolated | None = None
    """How the model was isolated; None if it was never started."""
    determinism: Determinism | None = None
    """Result of asking a few clips again; None if that was not done."""
    results: bool = False
    """Whether results were submitted instead of code."""
    probes: ProbeCount | None = None
    """Progress of the second pass; None if there was none."""

    @property
    def whole(self) -> bool:
        """Whether every clip was run and the run is not invalid."""
        return self.status == "complete" and self.clips["ok"] > 0 and self.clips.total() == self.total

    def begin(self, pool: WorkerPool) -> None:
        """Record how the submission is isolated; its counter of refused calls keeps counting."""
        self.held, self.refused = pool.isolation, pool.refused

    def note(self, pool: WorkerPool, feedback: Feedback) -> None:
        """Record how its process ended; refused calls may explain a failure."""
        self.begin(pool)
        self.waited_s, self.workers = pool.waited_s, pool.workers
        if self.refused:
            common = self.refused.most_common(NAMED_CALLS)
            found = ", ".join(f"{name} ({count}\N{MULTIPLICATION SIGN})" for name, count in common)
            found += f" and {len(self.refused) - len(common)} others" if len(self.refused) > len(common) else ""
            fix = "ignore this if all went well; otherwise avoid these calls, or ask the organisers to allow them"
            expected = "allowed system calls only"
            problem = Problem("calls_refused", "run", "model.py", found, expected, fix, severity="warning")
            self.problems.append(feedback.tell(problem))

    def end(self, status: RunStatus, problems: list[Problem]) -> None:
        """Give the run a status other than complete, with the reasons."""
        self.status = status
        self.problems += problems

    def warn(self, problems: list[Problem], log: Log) -> None:
        """Add problems that leave the status as it is."""
        for problem in problems:
            log.line(problem.line())
        self.problems += problems

    def add_clip(self, clip_id: str, status: ClipStatus, problems: list[Problem], log: Log) -> None:
        """Count a clip; the first problem of each kind is logged at once in open phases, all in the summary."""
        self.clips[status] += 1
        counted = set()
        for told in problems:
            problem = told
            if self.hidden and told.fault == "organiser":
                problem = replace(told, where="see clips.jsonl")
            # All entries of a list (cues[3]) are one kind.
            key = (problem.code, problem.where.partition("[")[0])
            if problem.severity == "error" and problem.fault == "participant":
                self.participant_codes.add(problem.code)
            if key not in self.clip_problems:
                if not self.hidden:
                    log.line(f"clip {clip_id} · {problem.line()}")
                self.examples[key] = problem
            if key not in counted:
                self.clip_problems[key] += 1
            counted.add(key)

    def judge(self) -> None:
        """Refuse a run with the same error on every clip: that is a bug in the submission, not a result."""
        if self.clips["failed"] and not self.clips["ok"] and len(self.participant_codes) == 1:
            (code,) = self.participant_codes
            where, first = next((key[1], self.examples[key]) for key in self.clip_problems if key[0] == code)
            # This must say what to do: short runs may leave no log on the platform.
            found, expected = f"{code} on every clip tried: {first.found}", "an answer for at least one clip"
            fix = f"{first.fix}; test at home with `kit.py run` of the starting kit"
            self.end("invalid", [Problem("every_clip_failed", "run", where, found, expected, fix)])
        elif self.clips["failed"] and not self.clips["ok"] and not self.participant_codes:
            found, fix = (
                "errors of the ingestion program on every clip",
                "run it again; if it happens again, report it with the log",
            )
            problem = Problem(
                "unexpected", "run", "ingestion", found, "no error in this program", fix, fault="organiser"
            )
            self.end("organiser_error", [problem])

    def compare(self, answers: list[dict[str, float]]) -> None:
        """Warn if every clip got the same prediction: that is allowed, but seldom intended."""
        if len(answers) >= ENOUGH_TO_COMPARE and all(answer == answers[0] for answer in answers):
            found, fix = f"the same prediction for all {len(answers)} clips", "check what the model reads from a clip"
            expected = "predictions that depend on the clip"
            self.problems.append(Problem("answers_equal", "run", "predict", found, expected, fix, severity="warning"))

    def summarise(self, log: Log) -> None:
        """Log a summary for readers who see only the last lines."""
        if 2 * self.clips["failed"] > self.total:
            log.line(f"more than half of the clips failed: {self.clips['failed']} of {self.total}", summary=True)
        counts = ", ".join(f"{self.clips[status]} {status.replace('_', ' ')}" for status in CLIP_STATUSES)
        log.line(f"{self.total} clips: {counts}", summary=True)
        for key, count in self.clip_problems.most_common(SUMMARISED):
            log.line(f"{count} of {self.total} clips · {self.examples[key].line()}", summary=True)
        for problem in self.problems[:SUMMARISED]:
            log.line(problem.line(), summary=True)
