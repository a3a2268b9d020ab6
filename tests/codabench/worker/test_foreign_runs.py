"""Bundles that are not ours run to a full row."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bundle_tools.cli.main import main
from tests.codabench.foreign import write_flat, write_multi_task, write_results

STYLES: dict[str, tuple[Callable[[Path], Path], tuple[str, ...], int]] = {
    "flat": (write_flat, (), 1),
    "flat, final": (write_flat, ("--phase", "final"), 1),
    "several tasks": (write_multi_task, ("--phase", "season"), 2),
    "one of several": (write_multi_task, (), 1),
    "results": (write_results, (), 1),
}


@pytest.mark.parametrize(("write", "options", "rows"), STYLES.values(), ids=STYLES.keys())
def test_bundles_of_others_run(
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    write: Callable[[Path], Path],
    options: tuple[str, ...],
    rows: int,
) -> None:
    root = write(tmp_path / "bundle")
    arguments = ["run", str(root / "solutions" / "sample"), "--bundle", str(root), "--out", str(tmp_path / "out")]
    assert main([*arguments, *options]) == 0
    printed = capfd.readouterr().out
    assert printed.count("Status on Codabench: Finished\n") == rows
    assert printed.count("Leaderboard row") == rows
