"""Whether explanations of filmed clips may rank: recomputed from what detectors found of their altered calls.

`bundle data exchanges` measures it and writes the figures beside the reference data (docs/data_format.md).
"""

import hashlib
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from bundle_tools.challenge.reading.tables import PhaseData, read_by_clip, read_json, vocabulary_of
from bundle_tools.phase_data.settings import TRIED

FILE = "detectability.json"
FORMAT_VERSION = 1
LARGEST_AUC, LARGEST_UPPER = 0.60, 0.70
"""Of every detector: largest area under the ROC curve, and largest upper end of its interval."""
LEAST_CONTROL = 0.80
"""Least area with which each detector must find a control, such as a part out of focus: else it proves nothing."""
LEAST_SHARE, LEAST_PEOPLE = 0.60, 30
"""Least share of a phase's clips with exchanges, and fewest people that the detectors were measured on."""
TIME = "time"
UNCONTROLLED = (TIME, "framing", "voice")
"""Interventions without a control of their own."""


def is_filmed(entry: object) -> bool:
    """Whether an entry of `exchanges.json` is of a filmed clip: its plain call shows a version of its own, too."""
    return isinstance(entry, dict) and "first" in entry


def unmeasured(inputs: PhaseData, reference: PhaseData, clips: Collection[str]) -> list[str]:
    """Return all that keeps a phase of filmed clips from ranking by explanations; nothing if they may."""
    listed = read_by_clip(inputs.data, "exchanges")
    exchanges = {clip: listed[clip] for clip in clips if clip in listed}
    share = len(exchanges) / max(1, len(clips))
    reasons = []
    if share < LEAST_SHARE:
        reasons.append(f"{share:.0%} of the clips have exchanges: expected {LEAST_SHARE:.0%} or more")
    content = read_json(reference.data, FILE)
    if not isinstance(content, dict) or content.get("format_version") != FORMAT_VERSION:
        reasons.append(f"{reference.at(FILE)}: expected what `bundle data exchanges` writes; found none")
        return reasons
    name = inputs.settings.get("exchanges")
    actual = hashlib.sha256(inputs.data.read(name)).hexdigest() if isinstance(name, str) and exchanges else None
    hashes = content.get("exchanges_sha256")
    if actual is None or not isinstance(hashes, list) or actual not in hashes:
        reasons.append(f"{FILE} was measured on other exchanges: measure these")
    measured = content.get("interventions")
    interventions = {str(part.get("name")) for entry in exchanges.values() for part in _parts(entry)}
    interventions |= {TIME, *_cues(inputs.settings, measured)}
    for intervention in sorted(interventions):
        known = measured.get(intervention) if isinstance(measured, dict) else None
        reasons += _reasons(intervention, known if isinstance(known, dict) else {})
    return reasons


def _cues(settings: dict[str, Any], measured: object) -> set[str]:
    """Return the cues that are edited; without sound in any clip there are no figures of the voice."""
    probes = settings.get("probes")
    if not isinstance(probes, dict) or not probes.get("edits"):
        return set()
    needed = {
        "framing": isinstance(settings.get("faces"), str),
        "voice": isinstance(measured, dict) and "voice" in measured,
    }
    return {cue for cue in TRIED if cue in vocabulary_of(settings) and needed.get(cue, True)}


def _parts(entry: object) -> list[Mapping[str, Any]]:
    parts = entry.get("parts") if isinstance(entry, dict) else None
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []


def _reasons(intervention: str, known: Mapping[str, Any]) -> Iterator[str]:
    if not isinstance(people := known.get("people"), int) or people < LEAST_PEOPLE:
        yield f"{intervention}: measured on {people or 0} people: expected {LEAST_PEOPLE} or more"
    limits = (("auc", LARGEST_AUC), ("upper", LARGEST_UPPER))
    detectors = known.get("detectors")
    if not isinstance(detectors, dict) or len(detectors) < 2:
        yield f"{intervention}: expected two detectors"
        return
    for detector in detectors:
        for key, largest in limits:
            if not isinstance(value := _figure(detectors, detector, key), int | float) or not value <= largest:
                way_out = f", or no {intervention} in the vocabulary" if intervention in TRIED else ""
                yield f"{intervention}, {detector}: {key} {value}: expected {largest:.2f} or less{way_out}"
    if intervention in UNCONTROLLED:
        return
    for detector in detectors:
        value = _figure(known.get("control"), detector, "auc")
        if not isinstance(value, int | float) or not value >= LEAST_CONTROL:
            what = f"{intervention}, {detector}: the control is found with auc {value}"
            yield f"{what}: expected {LEAST_CONTROL:.2f} or more"


def _figure(figures: object, detector: str, key: str) -> object:
    known = figures.get(detector) if isinstance(figures, dict) else None
    return known.get(key) if isinstance(known, dict) else None
