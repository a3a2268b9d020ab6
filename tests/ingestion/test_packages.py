"""The programs in an image without their packages: installed from wheels, or a clear word to the organiser."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ingest import packages
from tests import ROOT, there


def wheel(folder: Path, name: str, module: str) -> str:
    """Write a wheel with one module; return its line for a lock, with its hash."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-1.0-py3-none-any.whl"
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{module}.py", "answer = 42\n")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return f"{name}==1.0 --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    folder = tmp_path / "program"
    line = wheel(folder / "wheels", "rare_stone", "rare_stone")
    (folder / "requirements.lock").write_text(line)
    return folder


@pytest.mark.parametrize("module", ["packages.py", "schema.py"])
def test_both_programs_carry_the_same_file(module: str) -> None:
    both = [ROOT / program / module for program in ("ingestion_program/ingest", "scoring_program/score")]
    assert both[0].read_bytes() == both[1].read_bytes()


def test_the_scoring_lock_is_a_part_of_the_ingestion_lock() -> None:
    def pins(program: str) -> set[str]:
        lines = (ROOT / program / "requirements.lock").read_text().splitlines()
        return {line.split(" ")[0] for line in lines if "==" in line and not line.startswith(" ")}

    assert {"numpy", "jinja2", "pyyaml"} <= {pin.partition("==")[0] for pin in pins("scoring_program")}
    assert pins("scoring_program") < pins("ingestion_program")


@pytest.mark.parametrize(("program", "module"), [("ingestion_program", "ingest"), ("scoring_program", "score")])
def test_the_first_steps_need_no_package(program: str, module: str) -> None:
    command = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, '.'); import {module}.start"]
    done = subprocess.run(command, cwd=ROOT / program, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_nothing_is_installed_where_the_image_has_it_all(program: Path) -> None:
    assert packages.provide(program, ["json", "numpy"]) is None


def test_wheels_of_the_bundle_are_installed_with_their_hashes_checked(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    folder = there(packages.provide(program, ["rare_stone"]))
    assert (folder / "rare_stone.py").is_file()
    assert sys.path[0] == str(folder)
    assert not list(folder.rglob("*.pyc"))
    shutil.rmtree(folder)


def test_an_image_for_gpus_has_the_versions_of_all_others() -> None:
    locks = (ROOT / name for name in ("ingestion_program/requirements.lock", "requirements/gpu.lock"))
    shared, with_gpu = (dict(re.findall(r"(?m)^([\w.-]+)==([^ ;]+)", lock.read_text())) for lock in locks)
    assert {name for name in shared if with_gpu.get(name) != shared[name]} == {"onnxruntime"}
    # The newest wheels for GPUs are older, and not tried: the last that was is kept.
    assert with_gpu["onnxruntime-gpu"] == "1.28.0"


@pytest.mark.parametrize(
    "damage",
    [
        lambda program: (program / "requirements.lock").write_text("rare_stone==1.0 --hash=sha256:" + "0" * 64 + "\n"),
        lambda program: (program / "requirements.lock").write_text("rare_stone==1.0\n"),
        lambda program: (program / "requirements.lock").write_text(""),
        lambda program: (program / "requirements.lock").unlink(),
        lambda program: [path.unlink() for path in (program / "wheels").iterdir()],
    ],
    ids=["another hash", "no hash", "not in the lock", "no lock", "no wheel"],
)
def test_anything_else_is_refused_with_advice(
    program: Path, damage: object, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert callable(damage)
    damage(program)
    with pytest.raises(packages.PackagesMissing) as caught:
        packages.provide(program, ["rare_stone"])
    for word in ("organisers", "rare_stone", "--image", "--wheels", f"Python {sys.version_info.major}."):
        assert word in str(caught.value)


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Give an interpreter that sees no installed package but pip, as a slim image has it."""
    folder = tmp_path_factory.mktemp("bare") / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    return [str(folder / "bin" / "python"), "-s"]


@pytest.mark.slow
def test_without_packages_both_programs_still_tell_what_is_missing(bare_python: list[str], tmp_path: Path) -> None:
    for name in ("ingestion_program", "scoring_program"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        (tmp_path / name / "wheels").mkdir()
    results, output = tmp_path / "input" / "res", tmp_path / "output"
    environment = {"PATH": os.environ["PATH"]}
    folders = [ROOT / "input_data/practice", results, tmp_path / "ingestion_program", ROOT / "solutions/constant"]
    command = [*bare_python, str(tmp_path / "ingestion_program/ingestion.py"), *map(str, folders)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    run = json.loads((results / "run.json").read_text())
    assert run["status"] == "organiser_error"
    assert [problem["code"] for problem in run["problems"]] == ["packages_missing"]
    assert set(json.loads((results / "manifest.json").read_text())["files"]) == {"log.txt", "run.json"}
    assert "bundle build --wheels" in (results / "log.txt").read_text()

    command = [*bare_python, str(tmp_path / "scoring_program/scoring.py"), str(tmp_path / "input"), str(output)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    page = (output / "detailed_results.html").read_text()
    assert "The fault is not yours" in page
    assert "bundle build --wheels" in page
    assert not (output / "scores.json").exists()
    # With its own packages the scoring program repeats what ingestion had to say.
    shutil.copytree(ROOT / "reference_data/practice", tmp_path / "input" / "ref")
    done = subprocess.run(
        [sys.executable, str(ROOT / "scoring_program/scoring.py"), str(tmp_path / "input"), str(output)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "packages_missing" in done.stderr + done.stdout
    assert "packages_missing" in (output / "detailed_results.html").read_text()


@pytest.mark.slow
def test_without_wheels_the_package_index_gives_the_locked_set(bare_python: list[str], tmp_path: Path) -> None:
    index = subprocess.run(
        [*bare_python, "-m", "pip", "download", "--quiet", "--no-deps", "MarkupSafe"], cwd=tmp_path, check=False
    )
    if index.returncode != 0:
        pytest.skip("INDEX NOT TESTED: no package index can be reached")
    (tmp_path / "input" / "res").mkdir(parents=True)
    shutil.copytree(ROOT / "reference_data/practice", tmp_path / "input" / "ref")
    command = [
        *bare_python,
        str(ROOT / "scoring_program/scoring.py"),
        str(tmp_path / "input"),
        str(tmp_path / "output"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "installing the locked packages from the package index" in done.stdout
    assert "[packages] installed in" in done.stdout
    # It got as far as judging: there are no results, and the report, made with Jinja2, says so.
    assert done.returncode == 1, done.stderr
    assert "results_missing" in (tmp_path / "output" / "detailed_results.html").read_text()
