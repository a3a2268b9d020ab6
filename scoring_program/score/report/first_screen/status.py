"""How the run went, in a few facts."""

from dataclasses import dataclass

from score.read.outcomes import Outcomes
from score.read.output.run_facts import ISOLATION, Receipt
from score.report.gate import Scored
from score.report.numbers import percent, plural
from score.visible import one_line

STATUS_WORDS = {
    "ok": "ok",
    "failed": "failed",
    "not_reached": "not reached in time",
    "missing": "no record",
    "unreadable": "unreadable, left out",
}
_NEARLY_ALL = 0.9
"""Share of the time limit from which a run counts as slow."""


@dataclass(frozen=True)
class StatusItem:
    """One fact about the run."""

    title: str
    value: str
    note: str
    """Detail; may be empty."""
    tone: str
    """``good``, ``warning``, ``error`` or ``plain``."""


def status(scored: Scored) -> tuple[StatusItem, ...]:
    """List clips, time, isolation, seal and determinism."""
    run = scored.results.run
    return (
        _clips(scored),
        _time(scored),
        _isolation(scored),
        _seal(scored),
        _same_twice("Same answer twice", run.receipt, "clip", "clips"),
        _same_twice("Same answer twice, altered", run.receipt_of_copies, "altered copy", "altered copies"),
    )


def clips_sentence(outcomes: Outcomes) -> str:
    """Count the clips by how they went, in one sentence."""
    return f"{plural(len(outcomes.clip_ids), 'clip')}: {', '.join(_counts(outcomes, tuple(STATUS_WORDS)))}."


def _counts(outcomes: Outcomes, of: tuple[str, ...]) -> list[str]:
    return [f"{outcomes.count(one)} {STATUS_WORDS[one]}" for one in of if outcomes.count(one)]


def _clips(scored: Scored) -> StatusItem:
    outcomes = scored.outcomes
    counts = _counts(outcomes, tuple(one for one in STATUS_WORDS if one != "ok"))
    failed = outcomes.failed
    return StatusItem(
        title="Clips",
        value=plural(failed, "failed clip") if failed else f"all {outcomes.count('ok')} predicted",
        note=", ".join(counts) if counts else "no clip failed",
        tone="error" if failed else "warning" if counts else "good",
    )


def _time(scored: Scored) -> StatusItem:
    run = scored.results.run
    ended = {"complete": "", "partial": "the run ended early"}[run.status]
    if not run.time_limit_s:
        return StatusItem("Time", f"{run.duration_s:.1f} s", ended, "warning" if ended else "plain")
    share = run.duration_s / run.time_limit_s
    late = run.second_pass.planned - run.second_pass.asked if run.second_pass else 0
    unreached = f"{plural(late, 'altered copy', 'altered copies')} not reached" if late else ""
    note = ended or unreached or f"{percent(share)} of the limit"
    close = bool(ended or unreached) or share >= _NEARLY_ALL
    return StatusItem(
        "Time", f"{run.duration_s:.1f} s of {run.time_limit_s:.0f} s", note, "warning" if close else "good"
    )


def _isolation(scored: Scored) -> StatusItem:
    level = one_line(scored.results.run.isolation, 40)
    return StatusItem("Isolation", level or "not recorded", ISOLATION.get(level, ""), "plain")


def _seal(scored: Scored) -> StatusItem:
    if scored.results.folder.sealed:
        return StatusItem("Records", "sealed", "unchanged since ingestion", "good")
    return StatusItem("Records", "unsealed", "hashes checked, origin not verified", "plain")


def _same_twice(title: str, receipt: Receipt | None, one: str, many: str) -> StatusItem:
    if receipt is None:
        return StatusItem(title, "not asked", f"no {one} was asked twice", "plain")
    if receipt.identical == receipt.clips:
        return StatusItem(title, "yes", f"{plural(receipt.clips, one, many)} asked twice, identical", "good")
    size = receipt.largest_difference  # two digits, because a model can choose it
    by = f" by up to {size:.2g}" if size is not None and size > 0 else ""
    different = receipt.clips - receipt.identical
    return StatusItem(title, "no", f"{different} of {receipt.clips} {many} asked twice differ{by}", "warning")
