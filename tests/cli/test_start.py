"""The command starts at once: what one subcommand alone needs is read when that one runs."""

import gc
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bundle_tools.challenge import check
from bundle_tools.cli.main import main
from bundle_tools.codabench.rules.document import ParsedBundle
from bundle_tools.codabench.rules.findings import Finding

HEAVY = {
    *("numpy", "pandas", "cv2", "av", "PIL", "jinja2", "markdown_it", "scipy", "sklearn"),
    *("bundle_tools.challenge.check", "bundle_tools.challenge.rules", "bundle_tools.codabench.rules"),
}


def test_no_command_reads_what_another_needs() -> None:
    # Help on all of them needs nothing; running a submission needs no rule, picture or number.
    question = "import sys; from bundle_tools.cli.main import _parser; _parser(sys.argv[1]); print(*sys.modules)"
    for command in ("", "run", "submission"):
        done = subprocess.run([sys.executable, "-c", question, command], capture_output=True, text=True, check=True)
        assert sorted(HEAVY & set(done.stdout.split())) == []


def test_checking_leaves_the_collection_of_garbage_as_it_was(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, during = gc.get_threshold(), []

    def rule(_: ParsedBundle) -> Iterator[Finding]:
        during.append(gc.get_threshold())
        yield from ()

    monkeypatch.setattr(check, "RULES", (rule,))
    assert main(["check", str(tiny)]) == 0
    assert during[0][0] > before[0]
    assert gc.get_threshold() == before
