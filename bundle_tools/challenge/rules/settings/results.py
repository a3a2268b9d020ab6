"""Rules about phases that accept results (docs/results_2017.md) or sealed records instead of code."""

from collections.abc import Iterator

from bundle_tools.challenge.rules.clips.tables import SETTINGS, PhaseData, read_list
from bundle_tools.codabench.rules.findings import Finding

NAMES = ("aliases", "target_aliases")


def check_results(side: PhaseData, clips: list[str]) -> Iterator[Finding]:
    """Find what is accepted instead of code, unused settings of results, and clips without an older name."""
    where, settings = side.at(SETTINGS), side.settings
    if settings.get("accept_sealed") is True:
        what = "The phase accepts sealed records of `bundle evaluate`."
        effect = (
            "Whoever holds one gets its row; whoever has the seal key can forge one. "
            "It shows predictions and altered copies of a closed phase."
        )
        fix = "Give each record to its owner alone, and run `bundle server audit`."
        yield Finding("sealed-accepted", "note", where, what, effect, fix)
    accepted = settings.get("results")
    if accepted is not True:
        idle = [name for name in NAMES if settings.get(name) is not None]
        if idle:
            what = f"{' and '.join(idle)} without results: true."
            yield Finding("results-idle", "warning", where, what, "They are not used.", "Set results, or delete them.")
        return
    effect = "Anybody can write results by hand, and what needs a running model is not measured."
    what = "The phase accepts results in place of code."
    yield Finding("results-accepted", "note", where, what, effect, "Say on a page how such entries are ranked.")
    unnamed = sorted(set(clips) - {clip for clip, _ in read_list(side.data, "aliases", 2)})
    if settings.get("aliases") is not None and unnamed:
        what = f"{len(unnamed)} clips have no older name, such as {unnamed[0]}."
        effect = "Results can name them only by id, and files of 2017 do not."
        yield Finding("results-names", "warning", side.at(str(settings["aliases"])), what, effect, "Add their names.")
