"""A rule that figures on pages and guides match the settings, data and programs."""

from collections.abc import Iterator

from bundle_tools.challenge.figures.pages import look_through
from bundle_tools.challenge.rules.program_settings import scoring_settings
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.rules.findings import Finding, shown
from bundle_tools.codabench.rules.settings.pages import MOST_TOLD


def check_figures(draft: Draft) -> Iterator[Finding]:
    """Find figures that are stale, and marks that cannot be filled."""
    if not draft.folder and None in scoring_settings(draft).values():
        return  # the program was not asked, which is reported elsewhere; nothing can be compared
    reasons: dict[str, list[tuple[str, str]]] = {}
    for page in look_through(draft):
        for change in page.filled.changes[:MOST_TOLD]:
            what = f"{change.name}: found {shown(change.found)}; expected {shown(change.expected)}."
            where = f"{page.name}:{change.line}"
            yield Finding("page-figure", "warning", where, what, "Readers see a wrong number.", "Run `bundle pages`.")
        for problem in page.filled.problems:
            reasons.setdefault(problem.what, []).append((f"{page.name}:{problem.line}", problem.name or "a mark"))
    for reason, marks in reasons.items():
        # One wrong setting can leave all marks empty: report it once.
        names = list(dict.fromkeys(name for _, name in marks))
        more = f" and {len(names) - MOST_TOLD} more" if len(names) > MOST_TOLD else ""
        what = f"{', '.join(names[:MOST_TOLD])}{more}: {reason}"
        fix = "Correct the mark or its source. `bundle pages` lists every place, `bundle pages --names` all names."
        yield Finding("page-mark", "warning", marks[0][0], what, "This figure is never updated.", fix)
