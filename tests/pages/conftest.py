"""The starting kit as a participant unpacks it."""

import shutil
from pathlib import Path

import pytest

from bundle_tools.build import KIT
from tests.fewer import keep_clips

ROOT = Path(__file__).resolve().parents[2]
CLIPS = 6
"""The commands are what is tried, not the patience."""


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    folder = tmp_path / "kit"
    ignore = shutil.ignore_patterns("__pycache__", ".*")
    shutil.copytree(ROOT / "starting_kit", folder, ignore=ignore)
    for name in KIT:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=ignore)
        else:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return keep_clips(folder, CLIPS)
