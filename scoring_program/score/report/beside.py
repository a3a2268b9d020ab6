"""What the report shows beside the run's own numbers."""

from __future__ import annotations

from dataclasses import dataclass

from score.read.hashes import NO_HASHES, Hashes
from score.read.reference.key_frames import NO_KEY_FRAMES, KeyFrames
from score.read.reference.landmarks import NO_LANDMARKS, Landmarks
from score.report.content.provenance import Facts


@dataclass(frozen=True)
class Beside:
    """Everything that comes neither from the run nor from the evaluation; each part may be empty."""

    worker: Facts = ()
    """What the platform's worker noted."""
    landmarks: Landmarks = NO_LANDMARKS
    """Scores of baselines and known submissions, to compare with."""
    key_frames: KeyFrames = NO_KEY_FRAMES
    """A picture of each clip, where the phase has some."""
    hashes: Hashes = NO_HASHES
    """Of the files that the scores depend on."""
    private: bool = False
    """Whether the page shows what participants of this phase may not see."""
