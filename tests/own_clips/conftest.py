"""The miniature data set and the folder that is made of it, once for all tests of a process."""

from pathlib import Path

import pytest

from bundle_tools.cli.main import main

from .miniature import miniature


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the data set as it is downloaded."""
    return miniature(tmp_path_factory.mktemp("download"))


@pytest.fixture(scope="session")
def made(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an organiser's folder; tests that change it copy it first."""
    out = tmp_path_factory.mktemp("made") / "out"
    arguments = ["--source", str(source), "--out", str(out), "--practice", "6", "--final", "6", "--seed", "5"]
    assert main(["data", "first-impressions", *arguments]) == 0
    return out
