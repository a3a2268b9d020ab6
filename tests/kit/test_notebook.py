"""The notebook of the starting kit runs from top to bottom, and what it packs is a valid submission."""

import ast
import csv
import json
import math
import re
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT, warm
from tests.fewer import comparable, keep_clips
from tests.kit.conftest import FORKING

TOUR = ROOT / "starting_kit" / "tour.ipynb"
# The packages of requirements.txt by the names of their modules, Jupyter's, and the kit's reader of clips.
PACKAGES = {"numpy", "pandas", "sklearn", "cv2", "av", "yaml", "jinja2", "IPython", "file_clip"}
WRITTEN = re.compile(r'%%writefile "\{SUBMISSION\}/(\w+)\.py"\n(.*)', re.DOTALL)
LAST_CELL = """
fitted = pd.DataFrame(ridge.predict(levels).clip(0, 1), labels.index, truth.columns)
fitted.to_csv(TOUR / "fitted.csv", index_label="clip_id")
"""


RUN = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

shell, shown = InteractiveShell.instance(), {}
for name, source in json.load(sys.stdin).items():
    with capture_output() as said:
        result = shell.run_cell(source)
    result.raise_error()
    last = [] if result.result is None else [shell.display_formatter.format(result.result)[0]]
    shown[name] = [{kind: str(text) for kind, text in one.items()} for one in [*(o.data for o in said.outputs), *last]]
print(json.dumps(shown), file=sys.__stdout__)
"""


def read() -> list[dict[str, Any]]:
    """Cells, with their sources as one text."""
    cells = json.loads(TOUR.read_text("utf-8"))["cells"]
    return [{**cell, "source": "".join(cell["source"])} for cell in cells]


def code() -> dict[str, str]:
    return {cell["id"]: cell["source"] for cell in read() if cell["cell_type"] == "code"}


def modules() -> dict[str, str]:
    """The files that the notebook writes, by module name."""
    return {found[1]: found[2] + "\n" for found in map(WRITTEN.fullmatch, code().values()) if found}


def execute(cells: dict[str, str], folder: Path) -> dict[str, list[dict[str, str]]]:
    """Run cells as Jupyter's kernel does, and give what each shows by kind."""
    done = subprocess.run(
        [sys.executable, "-c", RUN], input=json.dumps(cells), cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    shown: dict[str, list[dict[str, str]]] = json.loads(done.stdout.splitlines()[-1])
    return shown


def said_by(*cells: str) -> Any:  # noqa: ANN401 - whatever the last line gives
    """Run cells here, without a kernel, and give what the last of them shows."""
    sources = {name: re.sub(r"^%.*", "", source, flags=re.MULTILINE) for name, source in code().items()}
    *lines, last = ast.parse("\n".join(sources[name] for name in cells)).body
    names: dict[str, Any] = {}
    exec(compile(ast.Module(lines, []), "tour", "exec"), names)  # noqa: S102 - our own notebook
    assert isinstance(last, ast.Expr)
    return eval(compile(ast.Expression(last.value), "tour", "eval"), names)  # noqa: S307 - as above


def test_is_valid_and_without_results() -> None:
    notebook = json.loads(TOUR.read_text("utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    every = {"cell_type", "id", "metadata", "source"}
    keys = {"markdown": every, "code": every | {"outputs", "execution_count"}}
    assert [cell for cell in notebook["cells"] if set(cell) != keys[cell["cell_type"]]] == []
    assert [cell["id"] for cell in notebook["cells"] if not re.fullmatch("[a-zA-Z0-9-_]{1,64}", cell["id"])] == []
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    assert [cell["id"] for cell in notebook["cells"] if cell.get("outputs") or cell.get("execution_count")] == []
    assert TOUR.stat().st_size < 50_000


def test_cells_are_short() -> None:
    lengths = {cell["id"]: len(cell["source"].splitlines()) for cell in read()}
    assert {name: length for name, length in lengths.items() if length > 25} == {}


def test_names_no_place_on_any_machine() -> None:
    assert re.findall(r"(?<![\w.})])(?:/[a-z]+/|~/|[A-Z]:\\)", "\n".join(cell["source"] for cell in read())) == []


def test_imports_only_what_participants_have() -> None:
    known = PACKAGES | set(sys.stdlib_module_names) | set(modules())
    # Lines that begin with % or ! are not Python.
    cells = [re.sub(r"^[%!].*", "", cell, flags=re.MULTILINE) for cell in code().values()]
    nodes = [node for cell in cells for node in ast.walk(ast.parse(cell))]
    imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in imported} - known == set()
    assert {"numpy", "sklearn", "measures"} <= {name.partition(".")[0] for name in imported}


@pytest.mark.skipif(find_spec("ruff") is None, reason="FORMAT NOT TESTED: `make setup WITH=lint` installs ruff")
def test_files_that_it_writes_are_well_formed(tmp_path: Path) -> None:
    assert set(modules()) == {"measures", "additive", "reasons", "bars", "model"}
    for name, text in modules().items():
        (tmp_path / f"{name}.py").write_text(text, "utf-8")
    settings = ["--config", str(ROOT / "pyproject.toml")]
    for call in (["format", "--diff"], ["check", "--no-cache", "--ignore", "D,ANN,INP"]):
        line = [sys.executable, "-m", "ruff", *call, *settings, "."]
        ran = subprocess.run(line, cwd=tmp_path, capture_output=True, check=False)
        assert ran.returncode == 0, ran.stdout.decode()


@pytest.mark.parametrize(
    ("beside", "public", "found"),
    [
        (True, "kit/public_data", "public_data"),
        (True, None, "input_data/practice"),
        (False, "public_data", "public_data"),
    ],
)
def test_finds_the_programs_and_the_training_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, beside: bool, public: str | None, found: str
) -> None:
    folder = tmp_path / "kit"
    top = folder if beside else tmp_path
    for name in ("ingestion_program", "input_data/practice", "reference_data/practice"):
        (top / name).mkdir(parents=True)
    folder.mkdir(exist_ok=True)
    places = [top / "input_data/practice", top / "reference_data/practice", *([tmp_path / public] if public else [])]
    for place in places:
        place.mkdir(exist_ok=True)
        (place / "labels.csv").write_text("clip_id,source_id,interview\nc1,s1,0.5\n", "utf-8")
        (place / "transcripts.json").write_text("{}", "utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    said = said_by("imports", "folders", "data").data
    assert f"the **1 clips** of `{found}`" in said
    assert ("flatter" in said) == (public is None)
    assert (top / "runs/tour/submission").is_dir()


@pytest.mark.slow
def test_runs_from_top_to_bottom_and_packs_a_submission(kit: Path) -> None:
    shown = execute({**code(), "last": LAST_CELL}, keep_clips(kit, 3))
    assert [kind for outputs in shown.values() for output in outputs for kind in output].count("image/png") == 3
    verdicts = re.fullmatch(r"Of (\d+) calls: (.+)", shown["effects"][-1]["text/markdown"])
    assert verdicts
    assert sum(map(int, re.findall(r"(\d+) x", verdicts[2]))) == int(verdicts[1]) > 0
    assert "what happened" in shown["claims"][-1]["text/plain"]
    tour = kit / "runs" / "tour"
    scores = json.loads((tour / "result/output/scores.json").read_text("utf-8"))
    assert math.isfinite(scores["skill"])
    assert scores["failed_clips"] == 0
    assert scores["coverage"] == 1
    assert (tour / "result/output/detailed_results.html").is_file()

    # What was fitted at home is what ran: the same reader, the same measures, the same sum.
    predicted, fitted = table(tour / "result/input/res/predictions.csv"), table(tour / "fitted.csv")
    assert predicted.keys() == fitted.keys()
    for clip, row in fitted.items():
        assert predicted[clip] == pytest.approx(row, abs=1e-6), clip

    with zipfile.ZipFile(tour / "submission.zip") as archive:
        assert set(archive.namelist()) == {*(f"{name}.py" for name in modules()), "weights.json"}
    assert warm.run(FORKING, ["kit.py", "run", "runs/tour/submission.zip", "--name", "again"], cwd=kit).code == 0
    by_notebook = comparable(tour / "result/output/scores.json")
    assert comparable(kit / "runs/again/output/scores.json") == by_notebook


def table(path: Path) -> dict[str, list[float]]:
    with path.open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    return {clip: [float(value) for value in values] for clip, *values in rows}
