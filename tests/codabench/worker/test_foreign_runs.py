"""Bundles that are not ours run to a full row."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.codabench.foreign import write_flat, write_multi_task, write_results
from tests.codabench.worker.conftest import Run

STYLES: dict[str, tuple[Callable[[Path], Path], tuple[str, ...], int]] = {
    "flat": (write_flat, (), 1),
    "flat, final": (write_flat, ("--phase", "final"), 1),
    "several tasks": (write_multi_task, ("--phase", "season"), 2),
    "one of several": (write_multi_task, (), 1),
    "results": (write_results, (), 1),
}


@pytest.mark.parametrize(("write", "options", "rows"), STYLES.values(), ids=STYLES.keys())
def test_bundles_of_others_run(
    tmp_path: Path, run: Run, write: Callable[[Path], Path], options: tuple[str, ...], rows: int
) -> None:
    root = write(tmp_path / "bundle")
    ran = run(*options, submission=root / "solutions" / "sample", bundle=root)
    assert ran.code == 0
    assert ran.said.count("Status on Codabench: Finished\n") == rows
    assert ran.said.count("Leaderboard row") == rows
