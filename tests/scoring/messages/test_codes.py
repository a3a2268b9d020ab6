"""The codes of scoring are a closed list: the program and the page agree."""

import ast

from score.errors import CODES
from tests import ROOT
from tests.listed_codes import is_plain, listed, strange_names

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
                        assert path.name == "tables.py", f"{path.name}, line {node.lineno}"
    return found


def test_the_program_uses_what_is_registered_and_nothing_else() -> None:
    # What tells of an unexpected error leans on nothing that can break, not even on `wrong`.
    assert used_codes() | {"internal_error"} == CODES.keys()


def test_the_page_lists_them_all() -> None:
    on_page = listed(scoring=True)
    formats = "".join((ROOT / "docs" / name).read_text("utf-8") for name in ("data_format.md", "output_format.md"))
    assert {one.name: one.kind == "W" for one in on_page} == {name: code.warning for name, code in CODES.items()}
    for kind in "SOW":  # a section holds its codes in the order of the registry
        names = [one.name for one in on_page if one.kind == kind]
        assert names == [name for name in CODES if name in names]
    for one in on_page:
        code = CODES[one.name]
        assert one.kind in "OW" or (one.kind == "S" and code.stage == "run")
        assert is_plain(one.sentence), one
        assert not strange_names(one.sentence, code.fix + formats), one
