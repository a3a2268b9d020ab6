"""The page of a run that cannot be scored because the image lacks packages, written without any package."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path

from score import DEFAULTS

EXIT_CODE = 2
_PAGE = """\
<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Not scored</title>
<style>body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 44em; margin: 2em auto; padding: 0 1em }}
pre {{ white-space: pre-wrap; background: #eee; color: #222; padding: 1em }}</style>
<h1>This run was not scored</h1>
<p>The fault is not yours: the organisers' side is not set up completely. Please show them this:</p>
<pre>{advice}</pre>
</html>
"""


def leave_page(arguments: Sequence[str], advice: str) -> int:
    """Write ``detailed_results.html`` and return the exit code; there are no scores."""
    target = Path((*arguments, *DEFAULTS[len(arguments) :])[1])
    target.mkdir(parents=True, exist_ok=True)
    (target / "detailed_results.html").write_text(_PAGE.format(advice=escape(advice)), encoding="utf-8")
    sys.stderr.write(f"ERROR: {advice}\n")
    return EXIT_CODE
