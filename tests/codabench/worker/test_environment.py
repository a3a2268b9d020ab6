"""Each program gets the packages of its own lock, and no others."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bundle_tools.codabench.worker import CannotStart
from bundle_tools.codabench.worker.environment import python_for
from tests import ROOT

in_venv = pytest.mark.skipif(sys.prefix == sys.base_prefix, reason="these tests run outside of a virtual environment")


def importable(python: Path, *names: str) -> list[bool]:
    code = f"from importlib.util import find_spec; print([find_spec(name) is not None for name in {names!r}])"
    done = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, check=True)
    return [word == "True" for word in done.stdout.strip("[]\n").split(", ")]


@in_venv
def test_scoring_has_no_opencv_and_ingestion_no_tools() -> None:
    scoring, ingestion = (python_for(ROOT / name) for name in ("scoring_program", "ingestion_program"))
    assert importable(scoring, "numpy", "jinja2", "yaml", "pip", "cv2", "pytest") == [True] * 4 + [False] * 2
    assert importable(ingestion, "numpy", "cv2", "av", "sklearn", "pytest", "bundle_tools") == [True] * 4 + [False] * 2


@in_venv
def test_it_is_made_once_even_by_two_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    (tmp_path / "requirements.lock").write_text('PyYAML==1.0 \\\n  --hash=x\nnot-here==1 ; sys_platform == "win32"\n')
    with ThreadPoolExecutor(2) as pool:
        made = set(pool.map(python_for, [tmp_path] * 2))
    assert made == {python_for(tmp_path)}
    assert len(list((tmp_path / "programs").iterdir())) == 1
    assert importable(made.pop(), "yaml", "numpy") == [True, False]


def test_without_a_lock_it_is_this_python(tmp_path: Path) -> None:
    assert python_for(tmp_path) == Path(sys.executable)


@in_venv
def test_a_package_that_is_not_installed_is_named(tmp_path: Path) -> None:
    (tmp_path / "requirements.lock").write_text("not-here==1 \\\n  --hash=x\nnumpy==1\nnor-here==2\n")
    with pytest.raises(CannotStart, match=r"not installed here: not-here, nor-here; install them: .* -m pip install"):
        python_for(tmp_path)
