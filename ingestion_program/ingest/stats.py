"""How a run goes: what is counted, whether answers repeat, and which problems participants are told."""

from __future__ import annotations

import hashlib
import hmac
import math
import re
from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ingest.causes import CAUSES
from ingest.codes import CODES
from ingest.errors import Problem

if TYPE_CHECKING:  # a run without packages is recorded, too
    from collections.abc import Sequence

    from ingest.log import Log
    from ingest.media.alteration import ClipSource
    from ingest.pool import WorkerPool
    from model_process.sandbox import Isolated


LONGEST = 600
LARGEST_SOURCE = 1 << 18
MOST_SOURCES, MOST_LINES = 50, 2000
"""For longer submissions no lines are reported: a line number among millions could encode a pixel."""
LINE = re.compile(r"(?P<file>.+?\.py) line (?P<line>[0-9]{1,7})(, in .*)?", re.DOTALL)
# Places that only the programs name.
PLACES = frozenset(
    {"model.py", "predict", "every target", "explain", "text", "image", "evidence", "space", "time"}
    | {"the remaining clips"}
)


class Feedback:
    """Turns a problem caused by a model into the message for its author."""

    def __init__(self, submission: Path, targets: tuple[str, ...], *, hidden: bool) -> None:
        self._hidden = hidden
        self._places = PLACES | {f'target "{name}"' for name in targets}
        # Read before any model runs, which could otherwise invent names by writing files.
        self._lines = _count_lines(submission) if hidden else {}

    def redact(self, problem: Problem) -> Problem:
        """Return the problem as it may be recorded and printed.

        Problems for the organisers keep their own words: a model cannot influence them.
        """
        # The model process reports its own failures, and may lie.
        if problem.code not in CODES or problem.stage not in CODES[problem.code].stages:
            problem = replace(problem, code="load_failed")
        if problem.fault == "organiser":
            return problem
        if self._hidden:
            words = CODES[problem.code]
            where = self._place(problem)
            return replace(problem, where=where, found=words.found, expected=words.expected, fix=words.fix)
        return replace(
            problem,
            where=problem.where[:LONGEST],
            found=problem.found[:LONGEST],
            expected=problem.expected[:LONGEST],
            fix=(problem.fix or CODES[problem.code].fix)[:LONGEST],
        )

    def _place(self, problem: Problem) -> str:
        if problem.where in self._places:
            return problem.where
        match = LINE.fullmatch(problem.where)
        if match and 1 <= int(match["line"]) <= self._lines.get(match["file"], 0):
            return f"{match['file']} line {int(match['line'])}"
        return problem.stage


def _count_lines(submission: Path) -> dict[str, int]:
    counts: dict[str, int] = {}
    for path in sorted(submission.rglob("*.py"))[:MOST_SOURCES]:
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= LARGEST_SOURCE:
            counts[path.relative_to(submission).as_posix()] = path.read_bytes().count(b"\n") + 1
    return {name: lines for name, lines in counts.items() if lines <= MOST_LINES}


SHARE = 0.05
FEWEST = 4
MOST = 20


@dataclass
class Determinism:
    """Result of asking clips, or perturbed copies, again."""

    clips: int = 0
    """Clips that were asked a second time."""
    identical: int = 0
    """Clips whose second answer was the same in every bit."""
    largest_difference: float | None = None
    """Largest difference in any target, over clips with two valid answers, >= 0; None without such a clip."""

    def add(self, first: dict[str, float], second: dict[str, float] | None) -> None:
        """Compare the two predictions of one clip; None means that the second call failed."""
        self.clips += 1
        if second is None:
            return
        self.identical += first == second
        difference = max(abs(first[name] - second[name]) for name in first)
        self.largest_difference = max(self.largest_difference or 0.0, difference)

    def problems(self) -> list[Problem]:
        """Return a warning where answers to clips differ."""
        fix = "fix seeds and the number of threads, and carry nothing over from one clip to the next"
        return self._problems("answers_differ", "clips", fix)

    def problems_of_copies(self) -> list[Problem]:
        """Return a warning where answers to perturbed copies differ."""
        fix = "carry nothing over from one call to the next, and fix seeds and the number of threads"
        return self._problems("answers_depend", "perturbed copies", fix)

    def _problems(self, code: str, asked: str, fix: str) -> list[Problem]:
        differ = self.clips - self.identical
        if not differ:
            return []
        largest = "" if self.largest_difference is None else f", by up to {self.largest_difference:.2g}"
        found = f"different answers to {differ} of {self.clips} {asked} asked twice{largest}"
        return [Problem(code, "run", "predict", found, "the same answer both times", fix, severity="warning")]


def choose(clips: Sequence[ClipSource], seed: int) -> list[ClipSource]:
    """Return the clips to ask again, in an order that does not depend on that of `clips`.

    These are 5 % of the clips, at least 4 and at most 20, drawn by a keyed hash, so that a model cannot know them.
    """
    count = min(len(clips), MOST, max(FEWEST, math.ceil(SHARE * len(clips))))
    key = str(seed).encode()
    chosen = sorted(clips, key=lambda clip: hmac.new(key, clip.clip_id.encode(), hashlib.sha256).digest())[:count]
    positions = {clip.clip_id: position for position, clip in enumerate(clips)}
    order = [positions[clip.clip_id] for clip in chosen]
    return chosen[::-1] if order == sorted(order) else chosen


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
    workers: int = 1
    """Largest number of model processes side by side."""
    refused: Counter[str] = field(default_factory=Counter)
    """System calls that were refused, by name."""
    restarts: int = 0
    """How often the model process was restarted."""
    isolation: Isolated | None = None
    """How the model was isolated; None if it was never started."""
    determinism: Determinism | None = None
    """Result of asking a few clips again; None if that was not done."""
    results: bool = False
    """Whether results were submitted instead of code."""
    probes: ProbeCount | None = None
    """Progress of the second pass; None if there was none."""
    untested: dict[str, list[str]] = field(default_factory=dict)
    """Ids of the clips without `exchanges`, and without cue `edits`; empty if the task has no second pass."""

    @property
    def whole(self) -> bool:
        """Whether every clip was run and the run is not invalid."""
        return self.status == "complete" and self.clips["ok"] > 0 and self.clips.total() == self.total

    @property
    def share(self) -> float:
        """Share of the calls, for clips and altered copies, that were reached; 1 if there are none."""
        planned, reached = self.total, self.clips.total() - self.clips["not_reached"]
        if self.probes is not None:
            planned, reached = planned + self.probes.planned, reached + self.probes.asked
        return reached / planned if planned else 1.0

    def begin(self, pool: WorkerPool) -> None:
        """Record how the submission is isolated; its counter of refused calls keeps counting."""
        self.isolation, self.refused = pool.isolation, pool.refused

    def note(self, pool: WorkerPool, feedback: Feedback) -> None:
        """Record how its process ended; refused calls may explain a failure."""
        self.begin(pool)
        self.workers = pool.workers
        if self.refused:
            common = self.refused.most_common(NAMED_CALLS)
            found = ", ".join(f"{name} ({count}\N{MULTIPLICATION SIGN})" for name, count in common)
            found += f" and {len(self.refused) - len(common)} others" if len(self.refused) > len(common) else ""
            fix = "ignore this if all went well; otherwise avoid these calls, or ask the organisers to allow them"
            expected = "allowed system calls only"
            problem = Problem("calls_refused", "run", "model.py", found, expected, fix, severity="warning")
            self.problems.append(feedback.redact(problem))

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
        for shown in problems:
            problem = shown
            if self.hidden and shown.fault == "organiser":
                problem = replace(shown, where="see clips.jsonl")
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

    def conclude(self) -> None:
        """Refuse a run with the same error on every clip: that is a bug in the submission, not a result."""
        if self.clips["failed"] and not self.clips["ok"] and len(self.participant_codes) == 1:
            (code,) = self.participant_codes
            where, first = next((key[1], self.examples[key]) for key in self.clip_problems if key[0] == code)
            # This must say what to do: short runs may leave no log on the platform.
            found, expected = f"{code} on every clip tried: {first.found}", "an answer for at least one clip"
            fix = f"{first.fix}; test at home with `kit.py run` of the starting kit"
            self.end("invalid", [Problem("every_clip_failed", "run", where, found, expected, fix)])
        elif self.clips["failed"] and not self.clips["ok"] and not self.participant_codes:
            found = "errors of the ingestion program on every clip"
            self.end("organiser_error", [CAUSES["program"].as_problem("run", "ingestion", found=found)])

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
