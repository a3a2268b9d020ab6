"""The notebook of the starting kit runs from top to bottom, and what it packs is a valid submission."""

import ast
import csv
import json
import math
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from tests import warm
from tests.fewer import keep_clips
from tests.pages.conftest import FORKING

ROOT = Path(__file__).resolve().parents[2]
TOUR = ROOT / "starting_kit" / "tour.ipynb"
# The packages of requirements.txt by the names of their modules, Jupyter's, and the reader of the example solution.
PACKAGES = {"numpy", "pandas", "sklearn", "cv2", "av", "yaml", "jinja2", "IPython", "cuereader"}
WRITTEN = re.compile(r'%%writefile "\{SUBMISSION\}/(\w+)\.py"\n(.*)', re.DOTALL)
LAST_CELL = """
fitted = pd.DataFrame(ridge.predict(levels).clip(0, 1), labels.index, truth.columns)
fitted.to_csv(TOUR / "fitted.csv", index_label="clip_id")
"""


def read() -> Any:  # noqa: ANN401 - nbformat's nodes have no types
    return nbformat.read(TOUR, as_version=nbformat.NO_CONVERT)  # type: ignore[no-untyped-call]


def code() -> list[str]:
    return [cell.source for cell in read().cells if cell.cell_type == "code"]


def modules() -> dict[str, str]:
    """The files that the notebook writes, by module name."""
    return {found[1]: found[2] + "\n" for found in map(WRITTEN.fullmatch, code()) if found}


@pytest.fixture
def this_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the kernel the Python that runs the tests, whatever kernels this machine has."""
    spec = tmp_path / "jupyter" / "kernels" / "python3" / "kernel.json"
    spec.parent.mkdir(parents=True)
    call = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec.write_text(json.dumps({"argv": call, "display_name": "Python 3", "language": "python"}), "utf-8")
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    for name in ("JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(tmp_path / name))


def execute(notebook: Any, folder: Path) -> Any:  # noqa: ANN401 - as above
    client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}})
    return client.execute()


def said_by(*cells: str) -> Any:  # noqa: ANN401 - whatever the last line gives
    """Run cells here, without a kernel, and give what the last of them shows."""
    sources = {cell.id: re.sub(r"^%.*", "", cell.source, flags=re.MULTILINE) for cell in read().cells}
    *lines, last = ast.parse("\n".join(sources[name] for name in cells)).body
    names: dict[str, Any] = {}
    exec(compile(ast.Module(lines, []), "tour", "exec"), names)  # noqa: S102 - our own notebook
    assert isinstance(last, ast.Expr)
    return eval(compile(ast.Expression(last.value), "tour", "eval"), names)  # noqa: S307 - as above


def test_is_valid_and_without_results() -> None:
    notebook = read()
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.id for cell in cells if cell.outputs or cell.execution_count is not None] == []
    assert TOUR.stat().st_size < 50_000


def test_cells_are_short() -> None:
    assert {cell.id: len(cell.source.splitlines()) for cell in read().cells if len(cell.source.splitlines()) > 25} == {}


def test_names_no_place_on_any_machine() -> None:
    assert re.findall(r"(?<![\w.})])(?:/[a-z]+/|~/|[A-Z]:\\)", "\n".join(cell.source for cell in read().cells)) == []


def test_imports_only_what_participants_have() -> None:
    known = PACKAGES | set(sys.stdlib_module_names) | set(modules())
    # Lines that begin with % or ! are not Python.
    cells = [re.sub(r"^[%!].*", "", cell, flags=re.MULTILINE) for cell in code()]
    nodes = [node for cell in cells for node in ast.walk(ast.parse(cell))]
    imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in imported} - known == set()
    assert {"numpy", "sklearn", "measures"} <= {name.partition(".")[0] for name in imported}


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
@pytest.mark.usefixtures("this_python")
def test_runs_from_top_to_bottom_and_packs_a_submission(kit: Path) -> None:
    notebook = read()
    notebook.cells.append(nbformat.v4.new_code_cell(LAST_CELL))  # type: ignore[no-untyped-call]
    executed = execute(notebook, keep_clips(kit, 3))
    shown = [kind for cell in executed.cells for output in cell.get("outputs", []) for kind in output.get("data", {})]
    assert shown.count("image/png") == 3
    cells = {cell.id: cell for cell in executed.cells}
    verdicts = re.fullmatch(r"Of (\d+) calls: (.+)", cells["effects"].outputs[-1].data["text/markdown"])
    assert verdicts
    assert sum(map(int, re.findall(r"(\d+) x", verdicts[2]))) == int(verdicts[1]) > 0
    assert "what happened" in cells["claims"].outputs[-1].data["text/plain"]
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
    assert warm.run(FORKING, ["run.py", "runs/tour/submission.zip", "--out", "again"], cwd=kit).code == 0
    again = json.loads((kit / "again/output/scores.json").read_text("utf-8"))
    assert {**again, "duration_s": 0} == {**scores, "duration_s": 0}


def table(path: Path) -> dict[str, list[float]]:
    with path.open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    return {clip: [float(value) for value in values] for clip, *values in rows}
