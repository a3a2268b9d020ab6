"""When a phase last got new programs or data."""

from datetime import datetime

from bundle_tools.codabench.server.interface import calls
from bundle_tools.codabench.server.interface.http import Connection
from bundle_tools.codabench.server.interface.records import Phase, Submission


def since(connection: Connection, phase: Phase) -> datetime | None:
    """Return the time of the newest program or data set of a phase; None without any."""
    newest = []
    for task_id in phase.tasks:
        for key in calls.task(connection, task_id).keys.values():
            if key is not None:
                newest += [one.created for one in calls.datasets(connection, key=key)]
    return max(newest, default=None)


def is_old(submission: Submission, newest: datetime | None) -> bool:
    """Return whether a submission ran on programs or data that the phase no longer uses."""
    return newest is not None and submission.created < newest
