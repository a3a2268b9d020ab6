"""Which time limit a job gets."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from bundle_tools.codabench.competition import load
from bundle_tools.codabench.worker.jobs import Limit, limit_of
from bundle_tools.errors import BundleError
from tests.tiny import swap


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


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        (
            "execution_time_limit: 600",
            "execution_time_limit: ten",
            "phases.0.execution_time_limit: expected an integer",
        ),
        ("    scoring_program: scoring_program/\n", "", "task Practice: no scoring_program"),
        ("sorting: asc", "sorting: up", "leaderboards.0.columns.1.sorting: expected one of asc, desc"),
        ("index: 1, key: errors", "key: errors", "leaderboards.0.columns.1.index"),
    ],
)
def test_what_running_needs_is_named_where_it_is_wrong(tiny: Path, old: str, new: str, named: str) -> None:
    swap(tiny / "competition.yaml", old, new)
    with pytest.raises(BundleError, match=re.escape(named)):
        load(tiny)


def test_what_running_does_not_need_may_be_wrong(tiny: Path) -> None:
    path = tiny / "competition.yaml"
    path.write_text(path.read_text().replace("title: Tiny", "titel: Tiny").replace("    start:", "    begin:"))
    assert [phase.time_limit_s for phase in load(tiny).phases] == [600]
