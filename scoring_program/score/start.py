"""The first steps of scoring, without packages: provide them, or leave a page that says they are missing."""

import os
import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path

from score import DEFAULTS, PROGRAM
from score.packages import PackagesMissing, provide

_MODULES = ("jinja2", "numpy", "pydantic", "yaml")
_ORGANISER_ERROR = 2
_PAGE = """\
<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Not scored</title>
<style>body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 44em; margin: 2em auto; padding: 0 1em }}
pre {{ white-space: pre-wrap; background: #eee; color: #222; padding: 1em }}</style>
<h1>This run was not scored</h1>
<p>The fault is not yours: the competition is not set up completely. Please show this to the organisers:</p>
<pre>{advice}</pre>
</html>
"""


def main(arguments: Sequence[str]) -> int:
    """Score the run in the folders that the arguments name; return the exit code."""
    # The platform must be able to read the output, whatever the worker's umask.
    os.umask(0o022)
    try:
        provide(PROGRAM, _MODULES)
    except PackagesMissing as error:
        return _leave_page(arguments, str(error))
    from score.pipeline import main as score  # noqa: PLC0415 - it imports the packages

    return score(arguments)


def _leave_page(arguments: Sequence[str], advice: str) -> int:
    target = Path((*arguments, *DEFAULTS[len(arguments) :])[1])
    target.mkdir(parents=True, exist_ok=True)
    (target / "detailed_results.html").write_text(_PAGE.format(advice=escape(advice)), encoding="utf-8")
    sys.stderr.write(f"ERROR: {advice}\n")
    return _ORGANISER_ERROR
