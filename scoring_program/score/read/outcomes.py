"""Join results with the reference data: every reference clip gets exactly one outcome."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from score.errors import OrganiserError, Problem, wrong
from score.read.answers import Explanation, ProbeCall, original_failed, original_of
from score.read.known import Known
from score.read.records import Repeat
from score.read.reference import Reference
from score.read.results import Results
from score.settings import Settings

FEWEST_PEOPLE = 4
"""Fewest people, or source videos, from which what is always so can be told."""
WORST = ("failed", "not_reached", "missing")
"""Statuses that are scored with the worst value; ``missing`` means that the run has no usable record of the clip."""


@dataclass(frozen=True)
class Outcomes:
    """What happened to the n clips of the reference, in ascending order of their ids."""

    clip_ids: tuple[str, ...]
    """n ids."""
    statuses: tuple[str, ...]
    """n of ``ok``, ``failed``, ``not_reached``, ``missing``, ``unreadable``."""
    explanations: tuple[Explanation, ...]
    """n explanations; an empty one for a clip that is not ok."""
    prediction: NDArray[np.float64]
    """(n, k) predictions in the targets' ranges; NaN for a clip that is not ok.

    They are those for the jittered originals of the second pass, where it reached the clip. Effects are measured
    against these answers. If the first pass counted instead, a model could predict with one function and be tested on
    another.
    """
    span: NDArray[np.float64]
    """(k,) width of each target's range."""
    truth: NDArray[np.float64]
    """(n, k) labels."""
    sources: NDArray[np.int64]
    """(n,) number of each clip's source."""
    probes: tuple[tuple[ProbeCall, ...], ...]
    """n lists of the calls of the second pass; none for a clip that the first one failed."""
    repeats: tuple[Repeat | None, ...]
    """n answers of a fresh process to the plain clip; None for a clip that was not asked again."""
    known: Known
    """What the organiser knows besides the labels."""
    warnings: tuple[Problem, ...]
    exchanged: NDArray[np.bool_]
    """(n,) whether a clip has an exchange; others are left out of faithfulness."""
    edited: NDArray[np.bool_]
    """(n,) whether a clip has cue edits; others are left out of the cue claims."""

    @property
    def counted(self) -> NDArray[np.bool_]:
        """(n,) whether a clip is scored, as all are except unreadable ones."""
        return np.array([status != "unreadable" for status in self.statuses], dtype=bool)

    def only_counted(self) -> "Outcomes":
        """Leave the unreadable clips out."""
        kept = np.flatnonzero(self.counted)
        return replace(
            self,
            clip_ids=tuple(self.clip_ids[number] for number in kept),
            statuses=tuple(self.statuses[number] for number in kept),
            explanations=tuple(self.explanations[number] for number in kept),
            prediction=self.prediction[kept],
            truth=self.truth[kept],
            sources=self.sources[kept],
            probes=tuple(self.probes[number] for number in kept),
            repeats=tuple(self.repeats[number] for number in kept),
            exchanged=self.exchanged[kept],
            edited=self.edited[kept],
        )

    @property
    def no_yardstick(self) -> str:
        """Why what is always so cannot be told from what was tested; empty if it can, or if nothing was tested."""
        tested = [clip for clip, calls in enumerate(self.probes) if any(call.kind == "unit" for call in calls)]
        people = len(set(self.sources[tested].tolist()))
        kinds = {call.unit for calls in self.probes for call in calls if call.kind == "unit"}
        if not tested or (people >= FEWEST_PEOPLE and len(kinds) > 1):
            return ""
        return f"units of {people} people and {len(kinds)} kinds"

    @property
    def failed(self) -> int:
        """Number of clips with the worst value."""
        return sum(status in WORST for status in self.statuses)

    def count(self, status: str) -> int:
        """Count the clips of one status."""
        return self.statuses.count(status)


def join(results: Results, reference: Reference, settings: Settings, known: Known | None = None) -> Outcomes:
    """Give every clip of the reference its outcome.

    Raises OrganiserError if a clip without a label was run, or if no clip could be decoded.
    """
    unlabelled = sorted(results.clips.keys() - set(reference.clip_ids))
    if unlabelled:
        problems = [
            wrong("label_missing", f"clip {clip_id}", "no row in labels.csv", "a label for every clip")
            for clip_id in unlabelled
        ]
        raise OrganiserError("Some clips of the run have no label.", problems)
    statuses = tuple(_status(clip_id, results) for clip_id in reference.clip_ids)
    if set(statuses) == {"unreadable"}:
        problem = wrong("clips_undecodable", "clips", "none that can be decoded", "readable clips")
        raise OrganiserError("No clip of this phase can be decoded.", [problem])
    ran = [status == "ok" for status in statuses]
    probes = tuple(
        results.probes.get(clip_id, ()) if ok else () for clip_id, ok in zip(reference.clip_ids, ran, strict=True)
    )
    # A model that fails when it is tested has no prediction that could be explained. If only the repeat fails, the
    # prediction stands, and what was measured against it counts for nothing.
    tests = [[call for call in calls if not call.again] for calls in probes]
    statuses = tuple(
        "failed" if original_failed(calls) else status for status, calls in zip(statuses, tests, strict=True)
    )
    good = [(clip_id, status == "ok") for clip_id, status in zip(reference.clip_ids, statuses, strict=True)]
    nothing = (float("nan"),) * len(settings.targets)
    first = np.array([results.predictions[clip_id] if ok else nothing for clip_id, ok in good])
    tested = np.array([original_of(calls) or nothing for calls in probes])
    return Outcomes(
        clip_ids=reference.clip_ids,
        statuses=statuses,
        explanations=tuple((ok and results.explanations.get(clip_id)) or Explanation() for clip_id, ok in good),
        prediction=np.where(np.isnan(tested), first, tested),
        span=np.array([target.maximum - target.minimum for target in settings.targets]),
        truth=reference.truth,
        sources=reference.sources,
        probes=probes,
        repeats=tuple(results.repeats.get(clip_id) if ok else None for clip_id, ok in good),
        known=known or Known(),
        warnings=tuple(_warnings(statuses, results)),
        exchanged=np.array([clip not in results.run.untested["exchanges"] for clip in reference.clip_ids]),
        edited=np.array([clip not in results.run.untested["edits"] for clip in reference.clip_ids]),
    )


def _status(clip_id: str, results: Results) -> str:
    record = results.clips.get(clip_id)
    if record is None or (record.status == "ok" and clip_id not in results.predictions):
        return "missing"
    return record.status


def _warnings(statuses: tuple[str, ...], results: Results) -> Iterator[Problem]:
    counts = Counter(statuses)
    if counts["unreadable"]:
        found = f"{counts['unreadable']} that could not be decoded and count for nobody"
        yield wrong("clips_undecodable", "clips", found, "readable clips", warning=True)
    if counts["missing"]:
        found = f"{counts['missing']} clips of the reference data without a usable record; they get the worst score"
        yield wrong("clips_missing", "clips", found, "a record for every clip")
    recorded = results.predictions.keys() | results.explanations.keys() | results.probes.keys()
    if stray := recorded - results.clips.keys():
        found = f"{len(stray)} that clips.jsonl lacks; they were ignored"
        yield wrong("records_stray", "predictions, explanations and probes", found, "known clips")
