"""Ways to spoil the input of a run: each gives what changes the folder, and lists the results anew."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.scoring.factory import write_manifest

Change = Callable[[Path], object]


def edit(name: str, change: Callable[[str], str], *, relist: bool = True) -> Change:
    """Change the text of a file."""

    def apply(root: Path) -> None:
        path = root / name
        path.write_text(change(path.read_text()))
        if relist:
            write_manifest(root / "res")

    return apply


def swap(name: str, old: str, new: str, *, relist: bool = True) -> Change:
    """Put one text in the place of another, once; it must be there."""

    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new, 1)

    return edit(name, change, relist=relist)


def edit_lines(name: str, change: Callable[[list[str]], list[str]]) -> Change:
    """Change the list of a file's lines, each with its end."""
    return edit(name, lambda text: "".join(change(text.splitlines(keepends=True))))


def edit_json(name: str, change: Callable[[Any], object]) -> Change:
    """Change what a JSON file holds, in place."""
    return edit(name, lambda text: _changed(json.loads(text), change), relist=name != "res/manifest.json")


def edit_records(name: str, change: Callable[[list[dict[str, Any]]], object]) -> Change:
    """Change the list of what the lines of a file hold, in place."""

    def apply(text: str) -> str:
        records = [json.loads(line) for line in text.splitlines()]
        change(records)
        return "".join(json.dumps(record) + "\n" for record in records)

    return edit(name, apply)


def write(name: str, data: str | bytes) -> Change:
    """Put another file in a file's place."""

    def apply(root: Path) -> None:
        (root / name).write_bytes(data.encode() if isinstance(data, str) else data)
        write_manifest(root / "res")

    return apply


def remove(name: str, *, relist: bool = True) -> Change:
    """Take a file away."""

    def apply(root: Path) -> None:
        (root / name).unlink()
        if relist:
            write_manifest(root / "res")

    return apply


def _changed(content: Any, change: Callable[[Any], object]) -> str:  # noqa: ANN401 - any JSON
    change(content)
    return json.dumps(content)
