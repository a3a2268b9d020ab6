"""Rules about ranking: whether explanations may decide it, and whether there are enough clips."""

from collections.abc import Collection, Iterator

from bundle_tools.challenge.enough_clips import CLIPS_TO_RANK, points_apart
from bundle_tools.challenge.rules.clips.tables import SETTINGS, PhaseData, read_by_clip
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.rules.findings import Finding

TOTAL = "explanation"


def check_ranking(draft: Draft, inputs: PhaseData, reference: PhaseData, clips: Collection[str]) -> Iterator[Finding]:
    """Find leaderboards that rank by explanations of filmed clips, and closed phases with too few clips to rank."""
    primary = draft.keys.primary_column
    if "probes" not in inputs.settings or not clips or primary is None or primary.key != TOTAL:
        return
    if filmed := len(set(clips) - read_by_clip(inputs.data, "exchanges").keys()):
        what = f"The leaderboard ranks by {TOTAL}, and {filmed} of {len(clips)} clips have no exchange."
        effect = "Their altered copies can be recognised, and an entry that does so may rank above honest ones."
        fix = "Write rank_by: prediction into task.yaml of the reference data, and the index of skill as primary_index."
        yield Finding("ranks-filmed", "warning", reference.at(SETTINGS), what, effect, fix)
    is_open = reference.section("report").get("truth") is True
    if not is_open and len(clips) < CLIPS_TO_RANK:
        what = f"{len(clips)} clips tell two entries apart only if their totals differ by {_points(len(clips))}."
        effect = "Between closer totals, luck decides."
        fix = f"With {CLIPS_TO_RANK} clips {_points(CLIPS_TO_RANK)} count; else call closer entries equal."
        yield Finding("ranks-few", "warning", inputs.at("clips.csv"), what, effect, fix)


def _points(clips: int) -> str:
    return f"{points_apart(clips):.0f} points"
