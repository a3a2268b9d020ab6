"""How the tests are spread over the processor cores; none of them fails because a machine is busy, or by bad luck."""

from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling

_UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
# The same examples in every run: a gate must not depend on luck. Look for new ones with --hypothesis-profile=searching.
settings.register_profile("repeatable", _UNHURRIED, derandomize=True, database=None)
settings.register_profile("searching", _UNHURRIED)
settings.load_profile("repeatable")


_TOGETHER = ("tests/container/", "tests/meaning/test_meaning.py")
"""Tests that share what takes long to make: an engine, the scores of all entrants."""


class _SharersTogether(LoadScopeScheduling):  # type: ignore[misc]  # pytest-xdist has no types
    """Hands out single tests, but all that share something to one worker, which makes it once."""

    def _split_scope(self, nodeid: str) -> str:
        return next((start for start in _TOGETHER if nodeid.startswith(start)), nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:  # noqa: ANN401 - its own type
    """Let pytest-xdist use it."""
    return _SharersTogether(config, log)
