"""The end of a submission on the platform, and what the platform does not show of it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bundle_tools.codabench.competition import Competition
from bundle_tools.codabench.keys import Column
from bundle_tools.codabench.worker import RunFailed
from bundle_tools.codabench.worker.jobs import Job
from bundle_tools.codabench.worker.report import find_report
from bundle_tools.codabench.worker.scores import NotSent, Stored, accepted, my_submissions, read_scores, row, store

Status = Literal["Finished", "Finished without scores", "Failed"]


@dataclass(frozen=True)
class Verdict:
    """The end of one submission to one task."""

    status: Status
    """Status as on Codabench, which however shows "Finished without scores" as Finished."""
    reason: str | None
    """Why the row is not complete; None if it is."""
    values: dict[str, float]
    """The leaderboard row: key of a column -> number."""
    report: Path | None
    """The detailed results that the platform would show."""
    notes: tuple[str, ...]
    """Oddities that Codabench silently accepts."""

    @property
    def good(self) -> bool:
        """Whether it is finished and its row complete."""
        return self.reason is None

    def lines(self, title: str, columns: tuple[Column, ...]) -> list[str]:
        """Return the lines printed at the end of the run."""
        lines = [f"Status on Codabench: {self.status}"]
        if self.values or self.status != "Failed":
            lines += [f"Leaderboard row ({title})", *row(self.values, columns)]
            mine = my_submissions(self.values, columns)
            if mine and columns[0].hidden:  # otherwise the row begins with it
                lines.append(f'Score in "My submissions": {mine}')
            if all(column.hidden for column in columns):
                lines.append("All columns are hidden: the leaderboard page ends in an error.")
        if self.notes:
            lines += ["Codabench accepts this silently:", *(f"  - {note}" for note in self.notes)]
        if self.report is not None:
            linked = "" if self.status != "Failed" else " (uploaded, but not linked from a failed submission)"
            lines.append(f"Report: {self.report}{linked}")
        return lines


def failed(reason: str, notes: list[str]) -> Verdict:
    """Return the verdict on a run without scoring output."""
    return Verdict("Failed", reason, {}, None, tuple(notes))


def judge(competition: Competition, job: Job, *, computed: bool) -> Verdict:
    """Read the output of the scoring job as worker and server do, in their order.

    Parameters
    ----------
    computed
        Whether the row gets computed columns (phases with one task).
    """
    report = find_report(job.output, enabled=competition.detailed_results)
    notes = [*job.notes, *report.notes]
    columns = competition.columns
    if job.program is not None and job.program.exit_code != 0:
        code = job.program.exit_code
        why = f"the scoring program ended with exit code {code}. The platform drops its output; here it is kept."
        return Verdict("Failed", why, {}, report.path, tuple(notes))
    stored = Stored({})
    unsent: str | None = None
    try:
        content, remarks = read_scores(job.output)
    except RunFailed as error:
        return Verdict("Failed", str(error), {}, report.path, tuple(notes))
    except NotSent as error:
        unsent = f"{error} The status stays Finished, without score or scoring output."
    else:
        stored = store(content, columns, computed=computed)
        notes += [*remarks, *accepted(content, columns, competition.primary_index)]
    if unsent is None:
        try:
            job.finish()
        except RunFailed as error:
            kept = " The scores were sent earlier and remain." if stored.values else ""
            return Verdict("Failed", f"{error}{kept}", stored.values, report.path, tuple(notes))
    status: Status = "Finished" if stored.values else "Finished without scores"
    reason = unsent or _gap(stored, columns)
    return Verdict(status, reason, stored.values, report.path, tuple(notes))


def _gap(stored: Stored, columns: tuple[Column, ...]) -> str | None:
    """Return why the row is not complete."""
    if stored.refused is not None:
        kept = ", ".join(stored.values) or "nothing"
        return f"{stored.refused}. The server answers with error 500, which the worker ignores; it keeps {kept}."
    missing = [column.key for column in columns if column.key not in stored.values and not column.computation]
    return f"the row is not complete: no {', '.join(missing)}." if missing else None
