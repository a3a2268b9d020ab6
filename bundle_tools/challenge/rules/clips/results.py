"""Rules about phases that take results instead of code (docs/results_2017.md)."""

from collections.abc import Iterator

from bundle_tools.challenge.rules.clips.side import ListForm, Side, read_list
from bundle_tools.codabench.rules.findings import FAILS_LATER, Finding, shown

ALIASES = ListForm("older names", ["clip_id", "name"], "results-aliases", "results-aliases", "Add it.")
NAMES = ("aliases", "target_aliases")


def check_results(side: Side, clips: list[str]) -> Iterator[Finding]:
    """Find settings of results that are not used, and older names that lead nowhere.

    Parameters
    ----------
    side
        The input data.
    clips
        Ids of the clips.
    """
    where, settings = side.at("task.yaml"), side.settings
    accepted = settings.get("results")
    if accepted is not True:
        idle = [name for name in NAMES if settings.get(name) is not None]
        if idle:
            what = f"{' and '.join(idle)} without results: true."
            yield Finding("results-idle", "warning", where, what, "They are not used.", "Set results, or delete them.")
        return
    effect = "Anybody can write results by hand, and nothing that needs a model to ask is measured."
    what = "Results may take the place of code."
    yield Finding("results-accepted", "note", where, what, effect, "Say on a page how such entries are ranked.")
    if settings.get("aliases") is not None:
        yield from _check_aliases(side, str(settings["aliases"]), clips)


def _check_aliases(side: Side, name: str, clips: list[str]) -> Iterator[Finding]:
    rows = yield from read_list(side, name, ALIASES)
    if rows is None:
        return
    where = side.at(name)
    seen: tuple[set[str], set[str]] = (set(), set())
    wrong = []
    for row in filter(None, rows):
        if (
            len(row) != len(ALIASES.header)
            or row[0] not in clips
            or any(cell in one for cell, one in zip(row, seen, strict=True))
        ):
            wrong.append(row)
            continue
        for cell, one in zip(row, seen, strict=True):
            one.add(cell)
    if wrong:
        what = (
            f"{len(wrong)} rows of an unknown clip, or with a clip or a name a second time, such as {shown(wrong[0])}."
        )
        yield Finding("results-aliases", "error", where, what, FAILS_LATER, "Correct the rows.")
    unnamed = sorted(set(clips) - seen[0])
    if unnamed and not wrong:
        what = f"{len(unnamed)} clips have no older name, such as {unnamed[0]}."
        effect = "They are found under their id only, which nobody used in 2017."
        yield Finding("results-names", "warning", where, what, effect, "Add their names.")
