"""Rules about a phase: what it reveals, whether its second pass has time, and whether its clips suffice."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from math import ceil, inf
from typing import Any

from bundle_tools.challenge.enough import (
    CLIPS_TO_RANK,
    GAIN_ALLOWED,
    bits_of,
    gain,
    labels_needed,
    points_apart,
    submissions_allowed,
)
from bundle_tools.challenge.reading.answers import is_public
from bundle_tools.challenge.reading.program_settings import scoring_settings
from bundle_tools.challenge.reading.tables import (
    LABELS,
    SETTINGS,
    PhaseData,
    read_by_clip,
    read_labels,
    read_list,
    read_settings,
    read_table,
)
from bundle_tools.challenge.rules import finding
from bundle_tools.challenge.rules.detectability import is_filmed, unmeasured
from bundle_tools.codabench.rules.dataset import find, opened, uses_of
from bundle_tools.codabench.rules.document import ParsedBundle
from bundle_tools.codabench.rules.findings import Finding, shown

MOST_EDITS = 3
UNITS = 5
"""Most units of a clip that are altered: `MOST_CALLS` of ingestion, without the original and edits."""
FEWEST_PEOPLE = 4
"""Fewest people from which scoring can tell what is always so."""
FIRST_CALLS = 2
"""Calls for the clip itself: predict and explain."""
USED_SHARE = 0.85
"""Share of the time after which ingestion starts no further call."""
SHORT_CALL_S = 1.0
"""Many models take longer than this per call, so a smaller budget is reported."""
EXAMPLE_CALL_S = 0.08
"""Seconds per call of the example solution, with decoding: 22 s for 24 clips of 5 s, 640 x 360, on two cores."""
TOTAL = "explanation"
NAMES = ("aliases", "target_aliases")
ENOUGH = 100
"""Fewest labelled clips from which a small model learns something."""
SYNTHETIC = "synthetic"
"""Start of the `data_version` of drawn clips."""


def check_openness(bundle: ParsedBundle) -> Iterator[Finding]:
    """Find answers, secrets and hidden data that Codabench would show."""
    hidden = [
        phase
        for phase in bundle.keys.phases
        if phase.hide_output or phase.hide_prediction_output or phase.hide_score_output
    ]
    for phase in hidden:
        for task in bundle.tasks_of(phase):
            reference = find(bundle, task.reference_data)
            if reference is not None and is_public(reference):
                name = f"{task.reference_data.rstrip('/')}/{SETTINGS}"
                what = f"{name}: true values in the report of a phase that hides outputs."
                yield finding("report-reveals", bundle.at(*phase.key_path), what)
    yield from _check_last(bundle)
    if hidden and bundle.keys.make_programs_available:
        what = "Participants may download the programs, and a phase hides its outputs."
        yield finding("open-programs", bundle.at("make_programs_available"), what)
    if hidden and bundle.keys.make_input_data_available:
        what = "Participants may download the input data, and a phase hides its outputs."
        yield finding("open-input", bundle.at("make_input_data_available"), what)


def _check_last(bundle: ParsedBundle) -> Iterator[Finding]:
    phases = bundle.keys.phases
    if not phases or phases[-1].hide_output:
        return
    for task in bundle.tasks_of(phases[-1]):
        reference = find(bundle, task.reference_data)
        # Data without a report section have a foreign format, so it is unknown whether they are secret.
        if reference is not None and "report" in (read_settings(reference) or {}) and not is_public(reference):
            what = "The last phase hides its true values and leaves logs and outputs open."
            yield finding("phase-open", bundle.at(*phases[-1].key_path), what)


def check_hidden_labels(bundle: ParsedBundle) -> Iterator[Finding]:
    """State how much one participant's submissions reveal of hidden labels, and warn if exploiting it pays."""
    answers = scoring_settings(bundle)
    for task in bundle.keys.tasks:
        known, data = answers.get(task.key_path), find(bundle, task.reference_data)
        # An unbounded score has infinitely many values; a program without these fields is not this project's.
        of_labels = [column for column in known.columns if column.get("of_labels")] if known else []
        columns = [column for column in of_labels if column["maximum"] is not None]
        if known is None or data is None or not columns or known.settings["report"]["truth"]:
            continue
        clips, targets = len(read_labels(data).rows), len(known.settings["targets"])
        for phase in bundle.keys.phases if clips else ():
            allowed = phase.max_submissions
            readable = phase.content.get("max_submissions", allowed) == allowed
            if readable and task in bundle.tasks_of(phase):
                yield _budget(bundle.at(*phase.key_path, "max_submissions"), columns, clips, targets, allowed)


def _budget(where: str, columns: Sequence[Mapping[str, Any]], clips: int, targets: int, allowed: int | None) -> Finding:
    scores, labels, submissions = len(columns), clips * targets, allowed or inf  # 0 and null mean no limit
    bits = bits_of(columns)
    of_all = f"{allowed} submissions {allowed * bits:.0f}" if allowed else "unlimited submissions any number"
    what = (
        f"{scores} scores and an interval reveal at most {bits:.0f} bits of labels, {of_all}; "
        f"there are {labels} labels of {clips} clips."
    )
    most = gain(scores, labels, submissions)
    if most <= GAIN_ALLOWED:
        return finding("labels-told (little)", where, what, gain=most, allowed=GAIN_ALLOWED)
    more = f", or take {ceil(labels_needed(scores, submissions) / targets)} clips" if allowed else ""
    fix = f"Allow {submissions_allowed(scores, labels)} in max_submissions{more}."
    return finding("labels-told", where, what, gain=most, allowed=GAIN_ALLOWED, fix=fix)


def check_probes(side: PhaseData, clips: int) -> Iterator[Finding]:
    """Find second passes that cannot finish in time."""
    where, settings = side.at(SETTINGS), side.settings
    if "probes" not in settings:
        if settings.get("copies") is not None:
            yield finding("probes-missing", where, "The input data have copies of clips but no probes.")
        return
    if isinstance(settings["probes"], dict):
        if "operators" in settings["probes"]:
            yield finding("probes-operators", where, "`operators` under probes.")
        yield from _check_time(where, settings, settings["probes"], clips)


def _check_time(where: str, settings: dict[str, Any], probes: dict[str, Any], clips: int) -> Iterator[Finding]:
    limits = settings.get("limits")
    limit: Any = limits.get("time_limit_s") if isinstance(limits, dict) else None
    edits: Any = probes.get("edits")
    # Ingestion is asked, and refuses other values.
    if not clips or type(limit) not in (int, float) or not 1 <= limit <= 1e6 or edits not in range(MOST_EDITS + 1):
        return
    calls = clips * (FIRST_CALLS + altered_calls(edits))
    budget = USED_SHARE * limit
    left = budget / calls
    if left < SHORT_CALL_S:
        what = (
            f"{clips} clips mean up to {calls} calls of a model in {budget:.0f} s, {left:.2f} s for each. "
            f"The example ({EXAMPLE_CALL_S} s a call) takes {calls * EXAMPLE_CALL_S:.0f} s."
        )
        yield finding("probes-time (short)" if left >= EXAMPLE_CALL_S else "probes-time", where, what)


def check_yardstick(inputs: PhaseData, reference: PhaseData, clips: Collection[str]) -> Iterator[Finding]:
    """Find phases with too few people, or one kind of unit, to tell what is always so in clips with exchanges."""
    exchanges = read_by_clip(inputs.data, "exchanges")
    clips = [clip for clip in clips if clip in exchanges]  # the others are left out of faithfulness
    if "probes" not in inputs.settings or not clips:
        return
    sources = read_labels(reference.data).sources
    if 0 < (people := len({sources[clip] for clip in clips if clip in sources})) < FEWEST_PEOPLE:
        what = f"The clips show {people} people, by source_id; expected at least {FEWEST_PEOPLE}."
        yield finding("yardstick-people", reference.at(LABELS), what)
    kinds = {kind for clip in clips for kind in _kinds(exchanges[clip])}
    if len(kinds) == 1:
        what = f"All parts of all exchanges are of one kind: {shown(min(kinds))}."
        yield finding("yardstick-kinds", inputs.at(str(inputs.settings["exchanges"])), what)


def _kinds(entry: object) -> Iterator[str]:
    """Yield the kinds of an exchange's units: spans, and names of parts without a number; none after a mistake."""
    parts = entry.get("parts") if isinstance(entry, dict) else None
    if isinstance(entry, dict) and entry.get("joins_s"):
        yield "span"
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, dict) and isinstance(part.get("name"), str):
            yield re.sub(r"-\d+$", "", part["name"])


def altered_calls(edits: int) -> int:
    """Return the highest number of model calls for a clip and its perturbed copies after the first pass."""
    return 1 + UNITS + edits


def check_ranking(
    bundle: ParsedBundle, inputs: PhaseData, reference: PhaseData, clips: Collection[str]
) -> Iterator[Finding]:
    """Find leaderboards that rank by explanations but may not, and closed phases with too few clips to rank."""
    primary = bundle.keys.primary_column
    if "probes" not in inputs.settings or not clips or primary is None or primary.key != TOTAL:
        return
    exchanges = read_by_clip(inputs.data, "exchanges")
    if any(clip not in exchanges or is_filmed(exchanges[clip]) for clip in clips):
        for reason in unmeasured(inputs, reference, clips):
            what = f"The leaderboard ranks by {TOTAL}. {reason}."
            yield finding("ranks-filmed", reference.at(SETTINGS), what)
    is_open = reference.section("report").get("truth") is True
    if not is_open and len(clips) < CLIPS_TO_RANK:
        what = f"{len(clips)} clips tell two entries apart only if their totals differ by {_points(len(clips))}."
        enough = {"clips": CLIPS_TO_RANK, "points": _points(CLIPS_TO_RANK)}
        yield finding("ranks-few", inputs.at("clips.csv"), what, **enough)


def _points(clips: int) -> str:
    return f"{points_apart(clips):.0f} points"


def check_results(side: PhaseData, clips: list[str]) -> Iterator[Finding]:
    """Find what is accepted instead of code, unused settings of results, and clips without an older name."""
    where, settings = side.at(SETTINGS), side.settings
    accepted = settings.get("results")
    if accepted is not True:
        idle = [name for name in NAMES if settings.get(name) is not None]
        if idle:
            yield finding("results-idle", where, f"{' and '.join(idle)} without results: true.")
        return
    yield finding("results-accepted", where, "The phase accepts results in place of code.")
    unnamed = sorted(set(clips) - {clip for clip, _ in read_list(side.data, "aliases", 2)})
    if settings.get("aliases") is not None and unnamed:
        what = f"{len(unnamed)} clips have no older name, such as {unnamed[0]}."
        yield finding("results-names", side.at(str(settings["aliases"])), what)


def is_drawn(bundle: ParsedBundle) -> bool:
    """Whether all clips are drawn, so that `bundle build` makes its own training set."""
    settings = [read_settings(data) or {} for data in opened(bundle, "input_data").values()]
    return bool(settings) and all(str(phase.get("data_version")).startswith(SYNTHETIC) for phase in settings)


def check_training(bundle: ParsedBundle) -> Iterator[Finding]:
    """Find too few public clips; a sample of drawn clips is replaced when the zip is built."""
    if bundle.folder and is_drawn(bundle):
        return
    seen: set[str] = set()
    for keys, path in uses_of(bundle, "public_data"):
        data = find(bundle, path)
        if data is None or LABELS not in data.names() or path in seen:
            continue
        seen.add(path)
        clips = max(0, len(read_table(data.text(LABELS))) - 1)
        if clips < ENOUGH:
            what = f"The public data have {clips} labelled clips; expected {ENOUGH} or more."
            code = "training-few (drawn)" if is_drawn(bundle) else "training-few"
            yield finding(code, bundle.at(*keys), what)
