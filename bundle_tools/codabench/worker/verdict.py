"""The end of a submission on the platform: status, row and report, and what the platform does not show of it."""

import os
import re
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path, PurePath
from typing import Literal

from bundle_tools.codabench.archive import printable
from bundle_tools.codabench.competition import Competition
from bundle_tools.codabench.keys import BoardColumn
from bundle_tools.codabench.worker import RunFailed
from bundle_tools.codabench.worker.jobs import Job
from bundle_tools.codabench.worker.scores import NotSent, read_scores, row_lines, silently_accepted, store

Status = Literal["Finished", "Finished without scores", "Failed"]
REPORT = "detailed_results.html"
LOADING = frozenset({"src", "srcset", "poster", "data", "background", "xlink:href"})
"""Attributes that load something; `href` loads only in some elements and is otherwise a link."""
CSS_URL = re.compile(r"(?:url\(\s*|@import\s+)['\"]?([^'\")\s;]+)", re.IGNORECASE)


@dataclass(frozen=True)
class JobResult:
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

    def lines(self, title: str, columns: tuple[BoardColumn, ...]) -> list[str]:
        """Return the lines printed at the end of the run."""
        lines = [f"Status on Codabench: {self.status}"]
        if self.values or self.status != "Failed":
            lines += [f"Leaderboard row ({title})", *row_lines(self.values, columns)]
        if self.notes:
            lines += ["Codabench accepts this silently:", *(f"  - {note}" for note in self.notes)]
        if self.report is not None:
            linked = "" if self.status != "Failed" else " (uploaded, but not linked from a failed submission)"
            lines.append(f"Report: {self.report}{linked}")
        return lines


def job_result(competition: Competition, job: Job, *, computed: bool) -> JobResult:
    """Read the output of the scoring job as worker and server do, in their order.

    `computed`: whether the row gets computed columns (phases with one task).
    """
    report, remarks = find_report(job.output, enabled=competition.detailed_results)
    notes = [*job.notes, *remarks]
    columns = competition.columns

    def verdict(status: Status, reason: str | None, values: dict[str, float]) -> JobResult:
        return JobResult(status, reason, values, report, tuple(notes))

    if job.program is not None and job.program.exit_code != 0:
        code = job.program.exit_code
        why = f"the scoring program ended with exit code {code}. The platform drops its output; here it is kept."
        return verdict("Failed", why, {})
    try:
        content, remarks = read_scores(job.output)
    except RunFailed as error:
        return verdict("Failed", str(error), {})
    except NotSent as error:
        why = f"{error} The status stays Finished, without score or scoring output."
        return verdict("Finished without scores", why, {})
    values, refused = store(content, columns, computed=computed)
    notes += [*remarks, *silently_accepted(content, columns, competition.primary_index)]
    try:
        job.finish()
    except RunFailed as error:
        kept = " The scores were sent earlier and remain." if values else ""
        return verdict("Failed", f"{error}{kept}", values)
    missing = [column.key for column in columns if column.key not in values and not column.computation]
    reason = f"the row is not complete: no {', '.join(missing)}." if missing else None
    if refused is not None:
        kept = ", ".join(values) or "nothing"
        reason = f"{refused}. The server answers with error 500, which the worker ignores; it keeps {kept}."
    return verdict("Finished" if values else "Finished without scores", reason, values)


def find_report(output: Path, *, enabled: bool) -> tuple[Path | None, list[str]]:
    """Choose as the worker does: `detailed_results.html`, else any other page at the root of the scoring output.

    `enabled`: `enable_detailed_results` of the competition.
    Returns the page, None if the platform shows none; and remarks.
    """
    with os.scandir(output) as entries:
        # In the order of the file system, not the alphabet, like the worker.
        pages = [entry.name for entry in entries if entry.name.endswith(".html") and entry.is_file()]
    if not enabled:
        return None, [f"{_name(pages[0])}: not shown, because enable_detailed_results is off."] if pages else []
    if not pages:
        return None, [f"{REPORT}: not written, so there is no report."]
    chosen = REPORT if REPORT in pages else pages[0]
    notes = []
    if REPORT not in pages:
        others = f"; of {len(pages)} pages any one may be shown" if len(pages) > 1 else ""
        notes.append(f"{_name(chosen)}: shown because there is no {REPORT}{others}.")
    elif len(pages) > 1:
        notes.append(f"{REPORT}: shown; {len(pages) - 1} other pages are not.")
    path = output / chosen
    if path.stat().st_size == 0:
        return None, [*notes, f"{_name(chosen)}: empty; its upload can hang until the time limit."]
    return path, [*notes, *note_page(path)]


def note_page(path: Path) -> list[str]:
    """Note what does not work on a page in the platform's frame: files that it loads, and links that lead away."""
    page = _Page()
    page.feed(path.read_text(encoding="utf-8", errors="replace"))

    def some(targets: list[str]) -> str:
        unique = list(dict.fromkeys(target[:80] for target in targets))
        return ", ".join(unique[:3]) + (f" and {len(unique) - 3} more" if len(unique) > 3 else "")

    loaded = [target for target in page.loaded if not target.lstrip().lower().startswith(("data:", "#"))]
    notes = [f"{_name(path.name)}: not self-contained; it loads {some(loaded)}."] if loaded else []
    if page.links:
        notes.append(f"{_name(path.name)}: links that do not work in the platform's frame: {some(page.links)}.")
    return notes


def _name(name: str) -> str:
    return printable(PurePath(name))


class _Page(HTMLParser):
    """Collects what a page loads and where it leads."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in LOADING or (name == "href" and tag in {"link", "image", "use"}):
                self.loaded.append(value or "#")
            elif name == "href" and value and not value.startswith("#"):
                self.links.append(value)
            elif name == "style":
                self.loaded += CSS_URL.findall(value or "")

    def handle_data(self, data: str) -> None:
        if self.lasttag == "style":
            self.loaded += CSS_URL.findall(data)
