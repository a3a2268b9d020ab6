"""Why there is no answer, or no result: the one table of causes, and what follows from each.

A model answers for whatever it can use up while it lives: its own memory and threads as well as the descriptors, memory
and disk of ingestion. Only what also goes wrong without it is the fault of others.
"""

# ruff: noqa: E501 - a table, one row a cause
from __future__ import annotations

import errno
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ingest.errors import Problem
from model_process.protocol import BadMessage, ChannelClosed

if TYPE_CHECKING:
    from ingest.codes import Stage

Consequence = Literal["charged", "excused", "end of the run"]
"""Charged: the answer counts as failed, and a process that ends takes a restart. Excused: it does neither."""


@dataclass(frozen=True)
class Cause:
    """One row. Its words may contain facts in braces."""

    code: str
    """It says whose fault it is: the organisers' if its kind is O, else the participant's."""
    follows: Consequence
    found: str
    expected: str
    fix: str

    def as_problem(self, stage: Stage, where: str, **facts: object) -> Problem:
        """Return the problem, with the facts filled in."""
        found, expected, fix = (text.format(**facts) for text in (self.found, self.expected, self.fix))
        return Problem(self.code, stage, where, found, expected, fix)


CAUSES = {
    "limit": Cause("too_much", "charged", "{found}", "{expected}", "{fix}"),
    "shortage": Cause("too_much", "charged", "too little left for ingestion ({kind})", "room for ingestion", "start fewer threads, use less memory, keep fewer frames"),
    "decoder": Cause("too_much", "charged", "what decoding needs: threads or memory", "room for the decoder", "start fewer threads, use less memory"),
    "hang": Cause("timeout", "charged", "no answer after {limit_s:.0f} s", "an answer in time", "do less per call"),
    "open readings": Cause("timeout", "charged", "readings that were still being closed after {limit_s:.0f} s", "an answer in time", "read to the end"),
    "message": Cause("bad_answer", "charged", "{error}", "a small answer", "return less; do not write to inherited file descriptors"),
    "odd message": Cause("bad_answer", "charged", "an unreadable answer ({kind})", "a small answer", "return less; do not write to inherited file descriptors"),
    "exit": Cause("crashed", "charged", "{name} ended by itself{how}", "a process that keeps running", "do not call exit; return an answer or raise an exception"),
    "signal": Cause("crashed", "charged", "{name} was ended by {how}", "a process that keeps running", "look for a crash in native code or too much memory: try the clip at home"),
    "kill": Cause("crashed", "charged", "{name} was ended by {how}", "a process that keeps running", "look for a crash in native code or too much memory: try the clip at home"),
    "memory": Cause("crashed", "charged", "{name} was ended by the system, which had no memory left", "a process that keeps running", "use less memory: the worker has less than the model took"),
    "restarts": Cause("restarts_used_up", "charged", "a {name} that died or hung too often", "{survivor}", "look at the first failure in the log"),
    "time": Cause("time_budget", "charged", "the time budget used up", "all clips inside the budget", "{faster}"),
    "clip": Cause("clip_unreadable", "excused", "{found}", "a canonical clip that decodes", "replace the file, or run `bundle data canonical`; `bundle check` finds such clips before the upload"),
    "changed clip": Cause("clip_lost", "end of the run", "{found}", "an unchanged file", "run it again; if it happens again, check what the model does to files"),
    "disk": Cause("disk_full", "end of the run", "no room on the disk", "room for what a run writes", "make room on the worker, and run the submission again"),
    "output": Cause("output_closed", "end of the run", "{found}", "a folder that can be emptied and written, with room on its disk", "repair the worker, and run the submission again"),
    "isolation": Cause("isolation_too_weak", "end of the run", "isolation level {level}", "at least {required}", "use a worker with Linux 5.13 or newer, or lower isolation.require in task.yaml"),
    "gpu": Cause("gpu_missing", "excused", "no GPU", "a GPU", "use a queue whose workers have one; at home, a model that needs one fails"),
    "busy": Cause("machine_busy", "excused", "{waited_s:.0f} of {elapsed_s:.0f} s spent waiting for a busy processor", "a free processor", "ask the organisers to run it again"),
    "check": Cause("check_failed", "charged", "{kind} while checking this answer", "an answer that can be checked", "tell the organisers: it is not your fault"),
    "watchdog": Cause("watchdog", "end of the run", "no end after {elapsed_s:.0f} s", "an end inside the budget", "run it again; if it happens again, look at the last clip in the log"),
    "program": Cause("unexpected", "end of the run", "{found}", "no error in this program", "run it again; if it happens again, report it with the log"),
}  # fmt: skip
"""Every cause by its name. A kill is one by the kernel, for lack of memory, or by somebody else: while loading, it is tried
once more."""
SHORTAGES = frozenset(
    {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC, errno.EDQUOT, errno.EAGAIN, errno.ENOBUFS}
)


def is_shortage(error: BaseException) -> bool:
    """Tell whether an error of ingestion means that something was used up: descriptors, memory, threads or disk."""
    if isinstance(error, OSError):
        return error.errno in SHORTAGES
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and "start new thread" in str(error))


def of_ending(error: Exception, status: int | None, *, over_limit: bool, disk_filled: bool, no_memory: bool) -> str:
    """Return the name of the cause why a process gave no answer: the first that holds.

    Parameters
    ----------
    error
        What was met while waiting for the answer.
    status
        How the process ended, as `Popen.returncode`; None if it did not, or unknown.
    over_limit, disk_filled
        Whether the watch ended it, because of a limit or because others had filled the disk.
    no_memory
        Whether the kernel has killed something for lack of memory since the process began.
    """
    holds = {
        "limit": over_limit,
        "disk": disk_filled,
        "hang": isinstance(error, TimeoutError),
        "message": isinstance(error, BadMessage),
        "shortage": is_shortage(error),
        "odd message": not isinstance(error, ChannelClosed),
        "memory": status == -signal.SIGKILL and no_memory,
        "kill": status == -signal.SIGKILL,
        "signal": status is not None and status < 0,
    }
    return next((name for name, true in holds.items() if true), "exit")
