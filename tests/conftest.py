"""Which tests run, how they are spread over the processor cores, and what they cost.

None of them fails because a machine is busy, or by bad luck.
"""

import gc
import os
import signal
import sys
from collections import Counter
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling

from bundle_tools.cli import main as command
from bundle_tools.codabench import trust
from bundle_tools.errors import BundleError
from tests.footage import FACES, fetched
from tests.remembered import Remembering

_UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
# The same examples in every run: a gate must not depend on luck. Look for new ones with --hypothesis-profile=searching.
settings.register_profile("repeatable", _UNHURRIED, derandomize=True, database=None, max_examples=40)
settings.register_profile("searching", _UNHURRIED, max_examples=300)
settings.load_profile("repeatable")

# Before NumPy is imported, here and in every interpreter that is started: idle threads turn in no loop.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")


# Tests make and remove some hundred thousand small files: in memory, where there is room and programs may run, they
# take a sixth less time.
_MEMORY = Path("/dev/shm")  # noqa: S108 - pytest and `tempfile` make folders of their own in it
if "TMPDIR" not in os.environ and _MEMORY.is_dir():
    _system = os.statvfs(_MEMORY)
    if _system.f_bavail * _system.f_frsize > 4 << 30 and not _system.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = str(_MEMORY)


class _FilesTogether(LoadScopeScheduling):  # type: ignore[misc]  # pytest-xdist has no types
    """Hands out whole files, whose tests share what takes long to make.

    The container tests share one engine, and those of real people their clips.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return next((shared for shared in ("tests/container/", "/test_people.py") if shared in file), file)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Start more processes than there are cores: some tests wait, for a time-out or, among all, a container."""
    return (os.cpu_count() or 1) + (2 if config.option.all else 1)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:  # noqa: ANN401 - its own type
    """Let pytest-xdist use it."""
    # In the order of their names: many quick files come last, so all cores are busy to the end.
    config.option.loadscopereorder = False
    return _FilesTogether(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Spare the search for garbage what is imported and collected: a million objects that stay to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Generator[None, object, object]:
    """Refuse a test that leaves this process with a real-time priority: all others would starve."""
    result = yield
    if hasattr(os, "sched_getscheduler") and os.sched_getscheduler(0) in (os.SCHED_FIFO, os.SCHED_RR):
        pytest.fail("the test leaves this process with a real-time priority")
    return result


@pytest.fixture(autouse=True)
def own_bundles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trust the bundles of the tests, which are our own, and remember none of them."""
    monkeypatch.setattr(trust, "_unknown", lambda _: [])
    monkeypatch.setattr(trust, "REMEMBERED", Path(os.devnull))


@pytest.fixture
def imports_undone(tmp_path: Path) -> Iterator[None]:
    """Forget what a test imports from its own folder: submissions have modules of the same names."""
    path, own = sys.path.copy(), f"{tmp_path}{os.sep}"
    yield
    sys.path[:] = path
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(own):
            del sys.modules[name]


@pytest.fixture(scope="session")
def footage() -> Path:
    """The folder with footage of people."""
    return fetched(FACES)


@pytest.fixture(scope="session")
def models() -> Path:
    """The folder of the models that find faces."""
    from bundle_tools.filmed.track import models_folder  # noqa: PLC0415 - imports NumPy

    try:
        return models_folder()
    except BundleError as error:
        pytest.skip(f"FACES NOT TESTED: {error}")


LEFT_OUT = {
    "browser": "needs Chromium",
    "container": "needs a Docker engine",
    "footage": "needs a package with real footage, which is downloaded",
    "npm": "needs npm and its registry",
    "slow": "a long search, or the long way to what a faster test sees too",
}
"""What `make test` leaves out, and why: marks of tests."""
_COUNTS = pytest.StashKey[Counter[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let `--all` run everything."""
    parser.addoption("--all", action="store_true", help="run the tests, too, that `make test` leaves out")


def pytest_configure(config: pytest.Config) -> None:
    """Count what is left out."""
    config.stash[_COUNTS] = Counter()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a shell's background: some tests interrupt commands
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yaml.SafeLoader = Remembering  # type: ignore[assignment,misc]
    command._parser = cache(command._parser)  # tests call the same commands again and again
    for mark, reason in LEFT_OUT.items():
        config.addinivalue_line("markers", f"{mark}: left to `make test-all`: {reason}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what has a mark of LEFT_OUT, unless everything was asked for, or marks or single tests by name."""
    if config.option.all or config.option.markexpr or any("::" in argument for argument in config.args):
        return
    marked = [(item, next((m for m in LEFT_OUT if item.get_closest_marker(m)), "")) for item in items]
    config.stash[_COUNTS].update(mark for _, mark in marked if mark)
    config.hook.pytest_deselected(items=[item for item, mark in marked if mark])
    items[:] = [item for item, mark in marked if not mark]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:  # noqa: ANN401 - pytest-xdist's names and types
    """Hear from a test process what it left out; all leave out the same."""
    if hasattr(node, "workeroutput"):  # one that crashed has none
        node.config.stash[_COUNTS] = Counter(node.workeroutput["left_out"])


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Say what was left out, in a test process of pytest-xdist."""
    if hasattr(session.config, "workeroutput"):
        counts = session.config.stash[_COUNTS]
        session.config.workeroutput["left_out"] = dict(counts)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Tell what was left out, and how to run it."""
    if counts := config.stash[_COUNTS]:
        terminalreporter.section("left out")
        for mark, count in counts.most_common():
            terminalreporter.line(f"{count:6} {mark}: {LEFT_OUT[mark]}")
        terminalreporter.line("`make test-all` runs them too.")
