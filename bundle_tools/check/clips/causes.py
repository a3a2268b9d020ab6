"""Rules about what the reference data know beyond labels: causes, observations, and how explanations are weighed."""

import json
import math
from collections.abc import Iterator
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any, TypeGuard

from bundle_tools.check.clips.side import Absence, Side, find_named
from bundle_tools.check.clips.tables import read_labels, read_settings, vocabulary_of
from bundle_tools.check.dataset import find
from bundle_tools.check.document import Draft
from bundle_tools.check.findings import FAILS_LATER, Finding, shown

KNOWLEDGE = ("causes", "observations")
STOPS = "Every scoring run fails."
ABSENCE = Absence("causes-missing", STOPS, "Generate it.")
WEIGHTS = ("cue_claims", "faithfulness_space", "known_causes", "faithfulness_time", "text")
SCORE_KEYS = ("weights", "power", "gate", "vocabulary", "aliases", "bands")


def check_causes(side: Side, inputs: dict[str, Any]) -> Iterator[Finding]:
    """Find knowledge that is missing, broken or about other clips, and settings that scoring refuses.

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
    if "explanation_score" in settings:
        yield from _check_score(where, settings["explanation_score"], vocabulary)
    if "skill_reference" in settings:
        yield from _check_reference_errors(where, settings)


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


def _check_score(where: str, section: object, vocabulary: list[str]) -> Iterator[Finding]:
    if not isinstance(section, dict):
        what = f"explanation_score: expected {', '.join(SCORE_KEYS)}; found {shown(section)}."
        yield Finding("score-value", "error", where, what, FAILS_LATER, "See docs/data_format.md.")
        return
    for key in sorted(map(str, section.keys() - set(SCORE_KEYS))):
        what = f"explanation_score: the key {shown(key)} is unknown."
        yield Finding("score-key", "error", where, what, FAILS_LATER, f"Use {', '.join(SCORE_KEYS)}.")
    weights = section.get("weights")
    if weights is not None and not _adds_up(weights):
        found = f"the sum {sum(weights.values()):g}" if _are_shares(weights) else shown(weights)
        what = f"explanation_score.weights: expected {', '.join(WEIGHTS)} with the sum 1; found {found}."
        yield Finding("score-value", "error", where, what, FAILS_LATER, "Correct the weights.")
    bands = section.get("bands")
    if bands is not None and not _ascend(bands):
        what = (
            f"explanation_score.bands: expected words with ascending limits from 0 to below 100; found {shown(bands)}."
        )
        yield Finding("score-value", "error", where, what, FAILS_LATER, "See docs/data_format.md.")
    own = section.get("vocabulary")
    if isinstance(own, list) and vocabulary and {str(cue) for cue in own} != set(vocabulary):
        what = "explanation_score.vocabulary: other cues than in the input data."
        effect = "Claims that ingestion accepts mean nothing to scoring."
        yield Finding("score-vocabulary", "error", where, what, effect, "Make both lists equal.")


def _adds_up(weights: object) -> bool:
    return _are_shares(weights) and math.isclose(sum(weights.values()), 1, abs_tol=1e-9)


def _are_shares(weights: object) -> TypeGuard[dict[str, float]]:
    """Tell whether the weights name every axis and no other, each with a number from 0 to 1."""
    if not isinstance(weights, dict) or set(weights) != set(WEIGHTS):
        return False
    values = weights.values()
    return all(isinstance(v, int | float) and not isinstance(v, bool) and 0 <= v <= 1 for v in values)


def _check_reference_errors(where: str, settings: dict[str, Any]) -> Iterator[Finding]:
    section, targets = settings["skill_reference"], settings.get("targets")
    names = (
        [str(target.get("name")) for target in targets if isinstance(target, dict)] if isinstance(targets, list) else []
    )
    if not isinstance(section, dict) or any(str(key) not in names for key in section):
        what = "skill_reference: expected the names of targets with a mean absolute error each."
        yield Finding("score-value", "error", where, what, FAILS_LATER, f"Use {', '.join(names)}.")


def _ascend(bands: object) -> bool:
    limits = list(bands.values()) if isinstance(bands, dict) else []
    numbers = all(isinstance(limit, int | float) and not isinstance(limit, bool) for limit in limits)
    inside = len(limits) >= 2 and numbers and limits[0] == 0 and limits[-1] < 100
    return inside and all(a < b for a, b in pairwise(limits))
