"""What the tests cost: processor seconds of each test, with all processes that it started; shown after a run.

Budgets are for `make test` on a machine of 2024. They are told, and fail nothing: a slow machine is no defect.
"""

import os
from collections.abc import Generator
from pathlib import Path

import pytest

from tests import warm

BUDGETS_S = {
    "challenge": 46,
    "cli": 28,
    "cluster": 10,
    "codabench": 34,
    "hostile": 52,
    "ingestion": 76,
    "kit": 18,
    "meaning": 6,
    "own_clips": 16,
    "pages": 4,
    "scoring": 68,
    "solutions": 12,
    "synthetic": 20,
}
"""Processor seconds that a folder may take in `make test`."""
MOST_EXPENSIVE = 10
_PROPERTY = "cpu_s"
_BEGUN = pytest.StashKey[float]()


class Costs:
    """Counts processor seconds, in each test process, and shows them where the results come together."""

    def __init__(self) -> None:
        self._of: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, bool, bool]:
        """Count a test with its fixtures; what several tests share counts for the first."""
        item.stash[_BEGUN] = _spent_s()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Send the count along with the last report of a test."""
        report = yield
        if call.when == "teardown":
            report.user_properties.append((_PROPERTY, _spent_s() - item.stash[_BEGUN]))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect the counts of all test processes."""
        if report.when == "teardown":
            self._of[report.nodeid] = float(str(dict(report.user_properties).get(_PROPERTY, 0.0)))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show folders with their budgets, and the most expensive tests."""
        if not self._of:
            return
        folders: dict[str, list[float]] = {}
        for name, cost in self._of.items():
            folders.setdefault(Path(name).parts[1], []).append(cost)
        terminalreporter.section("processor seconds")
        for folder, costs in sorted(folders.items()):
            budget = f"of {BUDGETS_S[folder]:4}" if folder in BUDGETS_S else ""
            terminalreporter.line(f"{sum(costs):8.1f} {budget:7} s  {len(costs):5} tests  {folder}")
        terminalreporter.line(f"{sum(self._of.values()):8.1f}         s  {len(self._of):5} tests")
        terminalreporter.line(f"The {MOST_EXPENSIVE} most expensive tests:")
        for name, cost in sorted(self._of.items(), key=lambda pair: -pair[1])[:MOST_EXPENSIVE]:
            terminalreporter.line(f"{cost:8.1f}         s  {name}")


def _spent_s() -> float:
    """Return what this process and all that it waited for took so far, processor seconds."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system + warm.spent_s()
