"""The starting kit as a participant unpacks it."""

import shutil
from pathlib import Path

import pytest

from bundle_tools.build import KIT

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    folder = tmp_path / "kit"
    ignore = shutil.ignore_patterns("__pycache__", ".*")
    shutil.copytree(ROOT / "starting_kit", folder, ignore=ignore)
    for name in KIT:
        shutil.copytree(ROOT / name, folder / name, ignore=ignore)
    return folder
