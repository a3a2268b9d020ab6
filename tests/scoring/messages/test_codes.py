"""The codes of scoring are a closed list: the program and the page agree."""

from __future__ import annotations

import ast
import re

from score.errors import CODES
from tests import ROOT

PAGE = ROOT / "docs" / "error_codes.md"
HEADING = "## Codes of the scoring program"


PLACES = {"wrong": slice(0, 1), "FileReader": slice(1, 2), ".wrong": slice(3, 4), ".table": slice(1, 3)}
"""By what is called, which of its arguments are codes."""


def used_codes() -> set[str]:
    """Gather the codes of all problems that the program makes; one that is no plain text fails."""
    found: set[str] = set()
    for path in sorted((ROOT / "scoring_program" / "score").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and path.name != "schema.py":
                name = f".{node.func.attr}" if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                for code in node.args[PLACES.get(name, slice(0))]:
                    if isinstance(code, ast.Constant):
                        found.add(str(code.value))
                    else:  # a reader hands on what it was given
                        assert path.name == "file_reader.py", f"{path.name}, line {node.lineno}"
    return found


def test_the_program_uses_what_is_registered_and_nothing_else() -> None:
    # What tells of an unexpected error leans on nothing that can break, not even on `wrong`.
    assert used_codes() | {"internal_error"} == CODES.keys()


def test_the_page_lists_them_all() -> None:
    section = PAGE.read_text().split(HEADING)[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| ([SOW]) \| .+?\. \| (.+?) \|$", section, re.M)
    assert [(name, kind == "W", fix) for name, kind, fix in rows] == [
        (name, code.warning, code.fix) for name, code in CODES.items()
    ]
