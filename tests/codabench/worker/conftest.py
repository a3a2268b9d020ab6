"""A submission of the tiny bundle, run by the command."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from bundle_tools.cli.main import main


@dataclass(frozen=True)
class Ran:
    """What came of a command."""

    code: int
    out: Path
    """Folder of the results."""
    said: str
    """On standard output."""
    error: str
    """On standard error."""

    def log(self, name: str) -> str:
        """Read a log."""
        return (self.out / "logs" / f"{name}_stdout.txt").read_text()


@pytest.fixture
def run(tiny: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run a submission of the tiny bundle, its solution unless another one is given."""

    def run(*options: str, submission: Path | None = None, out: Path = tiny.parent / "out", bundle: Path = tiny) -> Ran:
        words = ["run", str(submission or tiny / "solutions" / "half"), "--bundle", str(bundle), "--out", str(out)]
        code = main([*words, *options])
        return Ran(code, out, *capfd.readouterr())

    return run


Run = Callable[..., Ran]
