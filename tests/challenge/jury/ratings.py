"""A file `jury.json`, and ways to break it."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

GOOD = {
    "format_version": 2,
    "scale": [0, 5],
    "criteria": [{"name": "clarity", "title": "Clarity"}],
    "submissions": {"ab" * 32: {"value": 3.5, "interval": [3.0, 4.0], "criteria": {"clarity": 3.5}}},
}
Edit = Callable[[dict[str, Any]], object]


def write(path: Path, edit: Edit) -> Path:
    """Write the file with one change."""
    content = copy.deepcopy(GOOD)
    edit(content)
    path.write_text(json.dumps(content))
    return path


def first(content: dict[str, Any]) -> dict[str, Any]:
    """Give the ratings of the first submission."""
    entry: dict[str, Any] = next(iter(content["submissions"].values()))
    return entry


BROKEN: dict[str, Edit] = {
    "version": lambda root: root.update(format_version=1),
    "scale": lambda root: root.update(scale=[5, 0]),
    "no submissions": lambda root: root.pop("submissions"),
    "no hash": lambda root: root["submissions"].update(team=first(root)),
    "too high": lambda root: first(root).update(value=5.5),
    "no number": lambda root: first(root).update(value="good"),
    "a boolean": lambda root: first(root).update(value=True),
    "half an interval": lambda root: first(root).update(interval=[1.0]),
    "unknown criterion": lambda root: first(root)["criteria"].update(beauty=1.0),
    "a list": lambda root: root.update(submissions=[1]),
}
