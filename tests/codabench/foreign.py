"""Small bundles that are not ours, in the styles that organisers really upload; their programs run.

Each writer copies one of `foreign_bundles/`, zips what lies in its `zipped/`, and gives the folder. A sample submission
lies in `solutions/sample/` of the first three.
"""

import shutil
from pathlib import Path

from bundle_tools.codabench.archive import zip_folder
from tests.tiny import PNG, write_files

BUNDLES = Path(__file__).with_name("foreign_bundles")
MULTI_COMPETITION = (BUNDLES / "multi_task" / "competition.yaml").read_text("utf-8")
VERSION1_COMPETITION = (BUNDLES / "version1" / "competition.yaml").read_text("utf-8")


def write_flat(folder: Path) -> Path:
    """All files at the root, every data set zipped, commands with $variables, unquoted dates; submissions are code."""
    return _write("flat", folder, "logo.png")


def write_multi_task(folder: Path) -> Path:
    """Two tasks, of which the phase "Season" runs both, a computed column, a fact sheet, an own queue; code, too."""
    return _write("multi_task", folder, "images/logo.png")


def write_results(folder: Path) -> Path:
    """No ingestion program: a table is submitted; the scoring program is one of CodaLab's first version."""
    return _write("results", folder, "logo.jpg")


def write_version1(folder: Path) -> Path:
    """A whole bundle of CodaLab's first version, as far as the newer platform converts it."""
    return _write("version1", folder, "logo.png")


def _write(name: str, folder: Path, logo: str) -> Path:
    shutil.copytree(BUNDLES / name, folder, ignore=shutil.ignore_patterns("zipped", "__pycache__"), dirs_exist_ok=True)
    for inside in (BUNDLES / name).glob("zipped/*"):
        zip_folder(inside, folder / f"{inside.name}.zip")
    return write_files(folder, {logo: PNG})
