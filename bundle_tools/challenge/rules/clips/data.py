"""Rules about the data of this project's tasks: both sides agree, and every clip can be read.

They apply to a task whose input and reference data both hold a `task.yaml` (docs/data_format.md). What either program
would refuse is up to `rules.settings.refused`.
"""

from collections.abc import Iterator
from typing import Any

from bundle_tools.challenge.rules.clips.altered import check_copies, check_exchanges
from bundle_tools.challenge.rules.clips.files import check_alike, check_extra, check_files, check_tags
from bundle_tools.challenge.rules.clips.reference import check_reference
from bundle_tools.challenge.rules.clips.tables import SETTINGS, PhaseData, read_clips, side_of
from bundle_tools.challenge.rules.clips.video import Video
from bundle_tools.challenge.rules.settings.probes import check_probes, check_yardstick
from bundle_tools.challenge.rules.settings.ranking import check_ranking
from bundle_tools.challenge.rules.settings.results import check_results
from bundle_tools.codabench.competition import DEFAULT_TIME_LIMIT_S
from bundle_tools.codabench.keys import TaskKeys
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.rules.findings import Finding, shown
from bundle_tools.console import Progress


def check_data(draft: Draft) -> Iterator[Finding]:
    """Find where input data, reference data and phases contradict each other, and clips that cannot be used.

    Every clip is fully decoded, so large sets take a while; the draft's `progress` is called for each clip of a task.
    """
    for task in draft.keys.tasks:
        inputs, reference = (side_of(draft, task, key) for key in ("input_data", "reference_data"))
        if inputs is None or reference is None:
            continue
        clips = {clip: file for clip, file, _ in read_clips(inputs.data)}
        yield from _check_agreement(draft, task, inputs, reference)
        yield from _check_videos(inputs, clips, draft.progress)
        yield from check_probes(inputs, len(clips))
        yield from check_yardstick(inputs, reference, clips)
        yield from check_ranking(draft, inputs, reference, clips)
        yield from check_results(inputs, list(clips))
        yield from check_reference(inputs, reference, clips.keys())


def _check_agreement(draft: Draft, task: TaskKeys, inputs: PhaseData, reference: PhaseData) -> Iterator[Finding]:
    where, given, wanted = inputs.at(SETTINGS), inputs.settings, reference.settings
    for key in ("task", "data_version"):
        if given.get(key) != wanted.get(key) or given.get(key) is None:
            what = f"{key}: {shown(given.get(key))} in the input data, {shown(wanted.get(key))} in the reference data."
            yield Finding(
                "data-version", "error", where, what, "Scoring refuses to mix them.", "Generate both together."
            )
    if _targets(given) != _targets(wanted) or not _targets(given):
        what = f"Targets: {_targets(given)} in the input data, {_targets(wanted)} in the reference data."
        effect = "Predictions would be scored against other names or ranges."
        yield Finding("data-targets", "error", where, what, effect, "Make names, order and ranges equal.")
    title, named = draft.keys.title or "", wanted.get("challenge")
    if title and isinstance(named, str) and named.strip() != title.strip():
        what = f"challenge: {shown(named)}; the title of the competition is {shown(title)}."
        effect = "Reports and their citation line show a different name than the competition."
        fix = "Write the title here too, and look for the old name in pages and starting kit."
        yield Finding("data-challenge", "warning", reference.at(SETTINGS), what, effect, fix)
    if given.get("environment") == "gpu" and draft.keys.queue is None:
        what = "environment: gpu, and no queue in competition.yaml."
        effect = "Workers of Codabench's default queue have no GPU."
        yield Finding("data-gpu", "warning", where, what, effect, "Name a queue whose workers have one.")
    limit = inputs.section("limits").get("time_limit_s")
    for phase in draft.keys.phases:
        allowed = phase.execution_time_limit or DEFAULT_TIME_LIMIT_S
        if task in draft.tasks_of(phase) and limit != allowed:
            what = f"time_limit_s: {shown(limit)}; execution_time_limit of the phase is {allowed}."
            effect = "Ingestion ends too early, or the platform kills it."
            yield Finding("data-time-limit", "error", where, what, effect, "Write the same number.")


def _check_videos(side: PhaseData, clips: dict[str, str], progress: Progress | None) -> Iterator[Finding]:
    name = str(side.settings.get("clips"))
    videos: dict[str, Video] = {}
    yield from check_files(side, name, clips, videos, progress)
    yield from check_alike(side.at(name), videos)
    yield from check_tags(side.at(name), videos)
    yield from check_extra(side, name, "clips", clips)
    yield from check_copies(side, videos, progress)
    yield from check_exchanges(side, clips, videos, progress)


def _targets(settings: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    targets = settings.get("targets")
    if not isinstance(targets, list):
        return []
    return [
        (str(target.get("name")), target.get("minimum"), target.get("maximum"))
        for target in targets
        if isinstance(target, dict)
    ]
