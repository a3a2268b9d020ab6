"""The codes of scoring are a closed list: the program, the registry and the page agree."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from score.messages.codes import CODES
from tests import ROOT

PAGE = ROOT / "docs" / "error_codes.md"
HEADING = "## Codes of the scoring program"


def used_codes() -> Iterator[tuple[str, str]]:
    """Yield (place, code) of every problem that the program makes; a code that is no plain text fails."""
    for path in sorted((ROOT / "scoring_program").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            if node.func.id not in ("Problem", "_problem") or any(word.arg is None for word in node.keywords):
                continue  # `Problem(**record)` passes on what ingestion wrote
            code = next(
                (word.value for word in node.keywords if word.arg == "code"), node.args[0] if node.args else None
            )
            place = f"{path.name}, line {node.lineno}"
            if isinstance(code, ast.Name) and code.id == "code":
                continue  # a helper called _problem hands it on
            assert isinstance(code, ast.Constant) and isinstance(code.value, str), place
            yield place, code.value


def test_every_problem_has_a_registered_code() -> None:
    assert [(place, code) for place, code in used_codes() if code not in CODES] == []


def test_every_registered_code_is_used() -> None:
    assert set(CODES) - {code for _, code in used_codes()} == set()


@pytest.mark.parametrize("code", CODES)
def test_codes_are_plain_names_with_a_kind(code: str) -> None:
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", code)
    assert CODES[code].kind in ("S", "O", "W")
    assert CODES[code].meaning.endswith(".")


def test_the_page_lists_them_all() -> None:
    section = PAGE.read_text().split(HEADING)[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (\w) \| (.+?) \| (.+?) \|$", section, re.M)
    assert rows == [(name, code.kind, code.meaning, code.remedy) for name, code in CODES.items()]
