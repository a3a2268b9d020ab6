"""A phase whose data are not yet on the server runs on an open phase's data for now."""

import re
from typing import Any

import yaml

from bundle_tools.codabench.archive import Entry
from bundle_tools.codabench.booleans import is_on
from bundle_tools.codabench.build.document import hold
from bundle_tools.errors import BundleError

PARTS = ("input_data", "reference_data")
EXPECTED_FINDINGS = frozenset({"report-reveals", "page-figure"})
"""Codes of `bundle check` for a phase that hides its output but runs on open data."""


def with_stand_in(text: str, loose: list[Entry], name: str) -> tuple[str, list[Entry]]:
    """Point a phase to the data of the first open phase, and leave out its own.

    Returns the text and the files with the stand-in. Raises BundleError if there is no such phase or no open one.
    """
    document: dict[str, Any] = yaml.safe_load(text)
    tasks = {task["index"]: task for task in document["tasks"]}
    closed = [phase for phase in document["phases"] if str(phase["name"]).lower() == name.lower()]
    if not closed:
        known = ", ".join(str(phase["name"]) for phase in document["phases"])
        raise BundleError(f"--stand-in: expected one of {known}; found {name!r}.")
    opened = [phase for phase in document["phases"] if phase not in closed and not is_on(phase.get("hide_output"))]
    if not opened:
        raise BundleError("--stand-in: expected another phase that does not hide its output, found none.")
    own, other = tasks[closed[0]["tasks"][0]], tasks[opened[0]["tasks"][0]]
    for part in PARTS:
        path, instead = str(own[part]), str(other[part])
        value = rf"(\b{part}:\s*)(['\"]?){re.escape(path)}\2(?=[\s,}}]|$)"
        text = re.sub(value, lambda found, instead=instead: f"{found[1]}{instead}", text)  # type: ignore[misc]
        own[part] = instead
        loose = [entry for entry in loose if entry[0] != path and not entry[0].startswith(path.rstrip("/") + "/")]
    hold(text, document, f"the data of {name}")
    return text, loose
