"""Rules about what the reference data know beyond labels: causes and observations, and the cues that they name."""

import json
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from bundle_tools.challenge.rules.clips.side import Absence, Side, find_named
from bundle_tools.challenge.rules.clips.tables import read_labels, read_settings, vocabulary_of
from bundle_tools.codabench.rules.dataset import find
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.rules.findings import Finding, shown

KNOWLEDGE = ("causes", "observations")
STOPS = "Every scoring run fails."
ABSENCE = Absence("causes-missing", STOPS, "Generate it.")


def check_causes(side: Side, inputs: dict[str, Any]) -> Iterator[Finding]:
    """Find knowledge that is missing, broken or about other clips, and cues that one side alone knows.

    Parameters
    ----------
    side
        The reference data.
    inputs
        `task.yaml` of the input data.
    """
    clips = set(read_labels(side.data).rows)
    vocabulary = vocabulary_of(inputs)
    for kind in KNOWLEDGE:
        yield from _check_knowledge(side, kind, clips, vocabulary)
    where, settings = side.at("task.yaml"), side.settings
    section = settings.get("explanation_score")
    own = section.get("vocabulary") if isinstance(section, dict) else None
    if isinstance(own, list) and vocabulary and {str(cue) for cue in own} != set(vocabulary):
        what = "explanation_score.vocabulary: other cues than in the input data."
        effect = "Claims that ingestion accepts mean nothing to scoring."
        yield Finding("score-vocabulary", "error", where, what, effect, "Make both lists equal.")


def check_misplaced(draft: Draft) -> Iterator[Finding]:
    """Find causes and observations where models and participants look; the kit may hold those of an open phase."""
    names = {f"{kind}.json" for kind in KNOWLEDGE}
    for _, task in draft.entries("tasks"):
        settings = read_settings(data) if (data := find(draft, task.get("reference_data"))) else None
        names |= {str(settings[kind]) for kind in KNOWLEDGE if settings and settings.get(kind)}
    places = [task.get("input_data") for _, task in draft.entries("tasks")]
    places += [phase.get("public_data") for _, phase in draft.entries("phases")]
    places += [solution.get("path") for _, solution in draft.entries("solutions")]
    for place in dict.fromkeys(str(place) for place in places):
        data = find(draft, place)
        for name in data.names(junk=True) if data is not None else []:
            if PurePosixPath(name).name in names:
                what = f"{name} belongs to the reference data."
                effect = "Causes of a label are as good as the label."
                yield Finding("causes-misplaced", "error", place, what, effect, "Delete it there.")


def _check_knowledge(side: Side, kind: str, clips: set[str], vocabulary: list[str]) -> Iterator[Finding]:
    name = yield from find_named(side, kind, side.settings.get(kind), ABSENCE)
    if name is None:
        return
    where = side.at(name)
    try:
        content = json.loads(side.data.text(name))
    except (ValueError, RecursionError) as error:
        what = f"Expected JSON; found {shown(str(error))}."
        yield Finding("causes-broken", "error", where, what, STOPS, "Generate it again.")
        return
    known = content.get("clips") if isinstance(content, dict) else None
    if not isinstance(known, dict):
        what = "Expected a mapping with the key clips."
        yield Finding("causes-broken", "error", where, what, STOPS, "Generate it again.")
        return
    missing = sorted(clips - known.keys()) if kind == "causes" else []
    for what, odd in (("have a label and no causes", missing), ("have no label", sorted(known.keys() - clips))):
        if odd:
            found = f"{len(odd)} clips {what}, such as {shown(odd[0])}."
            yield Finding("causes-clips", "error", where, found, STOPS, "Generate both together.")
    cues = {cue for clip in known.values() for cue in _named_cues(clip)} if kind == "causes" else set()
    unknown = sorted(cues - set(vocabulary))
    if unknown and vocabulary:
        what = f"{len(unknown)} causes are no cues of the vocabulary, such as {shown(unknown[0])}."
        effect = "Nobody can claim them, and every explanation looks incomplete."
        yield Finding("causes-cues", "error", where, what, effect, "Add them to the vocabulary of the input data.")


def _named_cues(clip: object) -> set[str]:
    contributions = clip.get("contributions") if isinstance(clip, dict) else None
    tables = contributions.values() if isinstance(contributions, dict) else ()
    return {str(cue) for table in tables if isinstance(table, dict) for cue in table}
