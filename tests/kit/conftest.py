"""The starting kit as a participant unpacks it."""

import zipfile
from pathlib import Path

import pytest

from bundle_tools.challenge.build import downloads, entries
from bundle_tools.codabench.archive import zip_folders
from tests import ROOT
from tests.fewer import keep_clips
from tests.tiny import asked_in_a_fork  # noqa: F401 - a fixture

KIT = "starting_kit/"
"""As `competition.yaml` names it."""
CLIPS = 6
"""The commands are what is tried, not the patience."""
FORKING = Path(__file__).with_name("forking.py")


@pytest.fixture(scope="session")
def kit_zip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The zip that the build puts into the bundle, made by the build's own functions."""
    text = (ROOT / "competition.yaml").read_text("utf-8")
    assert KIT in downloads(text)
    loose = [entry for entry in entries(ROOT, text, None) if entry[0].startswith(KIT)]
    _, [(_, archive)] = zip_folders([KIT], loose, tmp_path_factory.mktemp("kit"))
    assert isinstance(archive, Path)
    return archive


@pytest.fixture
def kit(kit_zip: Path, tmp_path: Path) -> Path:
    """An empty folder into which that zip was unpacked; then most of its clips were taken out."""
    return keep_clips(unpack(kit_zip, tmp_path / "kit"), CLIPS)


def unpack(archive: Path, folder: Path) -> Path:
    """Unpack a zip into a folder; returns the folder."""
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(folder)
    return folder
