"""The page about the platform names functions that exist."""

import re
from importlib import import_module
from operator import attrgetter

from tests import ROOT


def test_each_oddity_names_its_function() -> None:
    rows = re.findall(r"^- (.+): (`.+)$", (ROOT / "docs/codabench.md").read_text("utf-8"), re.MULTILINE)
    assert len(rows) > 30
    for oddity, functions in rows:
        names = re.findall(r"`([\w.]+)`", functions)
        assert names, oddity
        for name in names:
            assert callable(_resolve(name.split("."))), (oddity, name)


def _resolve(parts: list[str]) -> object:
    """Import the longest module of a dotted name, and take the rest from it."""
    for count in range(len(parts), 0, -1):
        try:
            module = import_module(".".join(["bundle_tools.codabench", *parts[:count]]))
        except ModuleNotFoundError:
            continue
        return attrgetter(".".join(parts[count:]))(module)
    raise AssertionError(f"{'.'.join(parts)}: no such module")
