"""The closed list of problem codes: used in the code, told in the docs, and nothing else."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from ingest.codes import CODES, KINDS, Code
from ingest.results import REMARKS
from ingest.schema import Kind
from tests.ingestion.conftest import PROGRAM
from tests.listed_codes import listed

SOURCES = sorted([*(PROGRAM / "ingest").rglob("*.py"), *(PROGRAM / "model_process").glob("*.py")])
MAKERS = {"Problem", "LoadFailure", "problem", "Cause"}


def calls(tree: ast.AST) -> Iterator[tuple[ast.Call, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", None) or getattr(node.func, "attr", "")
            yield node, str(name)


def makers(tree: ast.AST) -> set[str]:
    """Return the names of functions that hand their parameter `code` on."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return MAKERS | {f.name for f in functions if "code" in {argument.arg for argument in f.args.args}}


def used_codes(path: Path) -> set[str]:
    """Return every code that a module gives a problem; anything that is neither a literal nor handed on is an error."""
    tree = ast.parse(path.read_text())
    found, makes_one = set(), makers(tree)
    for call, name in calls(tree):
        if name not in makes_one:
            continue
        argument = call.args[0] if call.args else next(word.value for word in call.keywords if word.arg == "code")
        if isinstance(argument, ast.Constant):
            assert isinstance(argument.value, str)
            found.add(argument.value)
        else:
            handed_on = ast.unparse(argument)
            known = {("model.py", "told.code"), ("causes.py", "self.code")}
            assert handed_on == "code" or (path.name, handed_on) in known, (path, handed_on)
    return found


def test_every_problem_has_a_code_of_the_list_and_every_code_is_used() -> None:
    used = {str(path.relative_to(PROGRAM)): used_codes(path) for path in SOURCES}
    unknown = {name: codes - CODES.keys() for name, codes in used.items() if codes - CODES.keys()}
    assert not unknown
    # Mistakes of the settings have a code each kind; what a model makes up becomes load_failed; the reader of results
    # says what holds for the files as a whole.
    of_kinds = {f"settings_{kind}" for kind in get_args(Kind)}
    assert CODES.keys() - set().union(*used.values()) == {"load_failed", *REMARKS} | of_kinds


def test_the_page_lists_the_codes() -> None:
    on_page = listed(scoring=False)
    assert {kind for _, kind in on_page} == KINDS.keys()
    for kind in KINDS:  # a section holds its codes in the order of the list
        assert [one.name for one in on_page if one.kind == kind] == [
            code.name for code in CODES.values() if code.kind == kind
        ]


@pytest.mark.parametrize("code", CODES.values(), ids=lambda code: code.name)
def test_names_and_words(code: Code) -> None:
    assert code.name.isascii()
    assert code.name.replace("_", "").isalpha()
    assert code.name == code.name.lower()
    assert code.stages
    for text in (code.found, code.expected, code.fix):
        assert text
        assert text == text.strip(" .")
        assert "|" not in text
