"""Which rooms may know which: read from the imports of every module."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import ROOT

THIS_CHALLENGE = (
    *("score", "ingest", "model_process"),
    *(f"bundle_tools.{room}" for room in ("challenge", "cli", "own_clips", "phase_data", "synthetic")),
)


def imported(path: Path, *, for_types: bool = True) -> Iterator[str]:
    """Give the names of all that a module imports, also inside functions; `for_types`: also under `TYPE_CHECKING`."""
    tree = ast.parse(path.read_text("utf-8"))
    guards = [node for node in ast.walk(tree) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    left_out = set() if for_types else {below for guard in guards for below in ast.walk(guard)}
    for node in (node for node in ast.walk(tree) if node not in left_out):
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


@pytest.mark.parametrize("folder", ["ingestion_program/ingest", "scoring_program/score", "bundle_tools"])
def test_imports_run_down_the_list_of_rooms(folder: str) -> None:
    """The guide lists rooms and modules from the top; what only types need is under `TYPE_CHECKING`."""
    text = (ROOT / "docs/architecture.md").read_text("utf-8").split(f"**`{folder}/`**")[1].split("\n**`")[0]
    lines = re.findall(r"^- ([^:]+):", text, re.MULTILINE)
    rank = {
        name.rstrip("/").split("/")[-1]: at for at, line in enumerate(lines) for name in re.findall(r"`([\w/]+)`", line)
    }
    package = Path(folder).name
    upwards = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        room = path.relative_to(ROOT / folder).with_suffix("").parts[0]
        if room == "__init__":
            continue
        assert room in rank, f"{room} is in no line of the guide"
        for name in imported(path, for_types=False):
            top, _, rest = name.partition(".")
            if top == package and rank.get(rest.partition(".")[0], len(lines)) < rank[room]:
                upwards.append((str(path.relative_to(ROOT)), name))
    assert upwards == []


def test_rooms_are_flat_and_their_modules_have_a_size() -> None:
    modules = [
        path for top in ("ingestion_program", "scoring_program", "bundle_tools") for path in (ROOT / top).rglob("*.py")
    ]
    assert {str(path) for path in modules if len(path.relative_to(ROOT).parts) > 5} == set()
    assert {path.name: lines for path in modules if (lines := len(path.read_text("utf-8").splitlines())) > 420} == {}
