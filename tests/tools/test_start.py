"""The command starts at once: what one subcommand alone needs is read when that one runs."""

import subprocess
import sys

HEAVY = {"numpy", "pandas", "cv2", "av", "PIL", "jinja2", "markdown_it", "scipy", "sklearn", "bundle_tools.check"}


def test_no_command_reads_what_another_needs() -> None:
    question = "import sys, bundle_tools.cli; bundle_tools.cli._parser(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", question], capture_output=True, text=True, check=True)
    assert sorted(HEAVY & set(done.stdout.split())) == []
