"""Which rooms may know which: read from the imports of every module."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import ROOT

THIS_CHALLENGE = (
    *("score", "ingest", "model_process"),
    *(f"bundle_tools.{room}" for room in ("challenge", "cli", "own_clips", "phase_data", "synthetic")),
)


def imported(path: Path) -> Iterator[str]:
    """Give the names of all that a module imports, also inside functions."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{name.name}" for name in node.names)


@pytest.mark.parametrize(
    ("folder", "foreign"),
    [
        ("ingestion_program", ("score", "bundle_tools", "tests")),
        ("scoring_program", ("ingest", "model_process", "bundle_tools", "tests")),
        ("solutions", ("ingest", "model_process", "score", "bundle_tools", "tests")),
        ("bundle_tools", ("tests",)),
        ("bundle_tools/codabench", THIS_CHALLENGE),
    ],
)
def test_what_must_not_be_known_is_not_imported(folder: str, foreign: tuple[str, ...]) -> None:
    modules = sorted((ROOT / folder).rglob("*.py"))
    assert len(modules) > 10
    known = {
        (str(path.relative_to(ROOT)), name)
        for path in modules
        for name in imported(path)
        for other in foreign
        if f"{name}.".startswith(f"{other}.")
    }
    assert known == set()


def test_rooms_are_flat_and_their_modules_have_a_size() -> None:
    modules = [
        path for top in ("ingestion_program", "scoring_program", "bundle_tools") for path in (ROOT / top).rglob("*.py")
    ]
    assert {str(path) for path in modules if len(path.relative_to(ROOT).parts) > 5} == set()
    assert {path.name: lines for path in modules if (lines := len(path.read_text("utf-8").splitlines())) > 420} == {}
