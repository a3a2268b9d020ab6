"""A model that remembers: it tells copies from the clip by what it saw of the clip before. A fresh process shows it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.meaning import simulate
from tests.meaning.entrants import Entrant, Submission
from tests.meaning.world import TARGETS, VOCABULARY, Alteration, Array, make_world, unaltered

CLIPS = 60


class Remembers(Submission):
    """Claims that all cues move all scores one way, and answers so for each copy that it knows to be one."""

    def predict(self, clip: int, alteration: Alteration, call: int) -> Array:
        """Answer as the model does, but for copies of clips of which a part was seen unaltered before."""
        if call == simulate.FIRST_PASS:
            return super().predict(clip, alteration, call)
        seen: set[int] = self.__dict__.setdefault("seen", set())
        if alteration.cue is not None and clip in seen:
            answer = super().predict(clip, unaltered(), call) - 0.2 * self._way(clip)
            return np.asarray(answer.clip(0, 1))
        if alteration.cue is None:
            seen.add(clip)
        return super().predict(clip, alteration, call)

    def _claims(self, clip: int, twin: bool) -> Array:
        return np.full((len(TARGETS), len(VOCABULARY)), 0.1 * self._way(clip))

    def _way(self, clip: int) -> int:
        return 1 if self._random("way", clip).random() < 0.5 else -1


@pytest.mark.parametrize(("model", "maps", "points"), [("honest", "random", 5), ("guards_a_secret", "secret", 20)])
def test_a_memory_does_not_make_up_for_an_account(
    model: str, maps: str, points: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulate, "Submission", Remembers)
    entrant = Entrant("remembers", "cheat: remembers the clip", model, maps, "all")
    scores = simulate.scores_of(simulate.write_run(tmp_path, entrant, make_world(CLIPS, 1)))
    # Without the copies that are asked again it would be 0.4, and the total 13 and 42.
    assert scores["cue_claims"] <= 0.05
    assert scores["explanation"] <= points
