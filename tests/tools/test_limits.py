"""Which time limit a job gets."""

from dataclasses import replace
from pathlib import Path

import pytest

from bundle_tools.codabench.competition import load
from bundle_tools.codabench.worker.jobs import Limit, limit_of


@pytest.mark.parametrize(
    ("phase_s", "own_queue", "override_s", "seconds", "origin"),
    [
        (600, False, None, 600, "execution_time_limit"),
        (30, False, None, 30, "execution_time_limit"),
        (1200, False, None, 600, "the cap of the default queue, although the phase says 1200 s"),
        (1200, True, None, 1200, "execution_time_limit"),
        (1200, False, 900, 900, "--time-limit"),
    ],
)
def test_the_default_queue_caps_the_limit(
    tiny: Path, phase_s: int, own_queue: bool, override_s: int | None, seconds: int, origin: str
) -> None:
    competition = replace(load(tiny), own_queue=own_queue)
    phase = replace(competition.phases[0], time_limit_s=phase_s)
    assert limit_of(competition, phase, kill=True, override_s=override_s) == Limit(seconds, True, origin)


def test_a_queue_is_read_from_the_competition(tiny: Path) -> None:
    path = tiny / "competition.yaml"
    assert not load(tiny).own_queue
    path.write_text(path.read_text() + "queue: 8f8f9a3e-3c0e-4a52-9d0d-2f5f6f0f7a11\n")
    assert load(tiny).own_queue
