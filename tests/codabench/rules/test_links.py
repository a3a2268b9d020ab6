"""Links out of a bundle: named by every command, at once, and never followed."""

import shutil
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from bundle_tools.challenge.check import check
from bundle_tools.cli.main import main
from bundle_tools.codabench.archive import copy_zipped, zip_folder
from bundle_tools.codabench.rules.dataset import DataFiles
from tests import ROOT
from tests.tiny import swap, write_files

BOUND_S = 20
"""A search through the system's folders takes minutes."""


@pytest.fixture(params=["input_data/practice", "scoring_program", "solutions/half"])
def linked(tiny: Path, request: pytest.FixtureRequest) -> tuple[Path, str]:
    """A bundle one of whose folders is a link to a folder of the system."""
    name: str = request.param
    shutil.rmtree(tiny / name)
    (tiny / name).symlink_to("/usr")
    return tiny, name


def test_a_folder_elsewhere_is_an_error_at_once(
    linked: tuple[Path, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle, name = linked
    started_s = time.monotonic()
    found = {(finding.code, finding.severity): finding.what for finding in check(bundle)}
    assert f"'{name}/', a link out of it" in found["path-outside", "error"]
    words = ["--bundle", str(bundle), "--out"]
    assert main(["build", *words, str(tmp_path / "x.zip")]) == 1
    assert "a link out of it" in capsys.readouterr().out
    half = write_files(tmp_path, {"half/model.py": "def predict(question):\n    return 0.5\n"}) / "half"
    if not name.startswith("solutions"):
        for command in ("run", "evaluate"):
            assert main([command, str(half), *words, str(tmp_path / command)]) == 1
            assert f"{name}: leads out of the bundle" in capsys.readouterr().err
    assert time.monotonic() - started_s < BOUND_S


def test_a_folder_that_is_packed_without_being_named_is_not_followed_either(
    tiny: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tiny / "public_data").symlink_to("/usr")
    assert main(["build", "--bundle", str(tiny), "--out", str(tiny.parent / "x.zip")]) == 1
    assert "public_data: leads out of the bundle" in capsys.readouterr().err


def test_this_installations_own_programs_may_be_linked(tiny: Path) -> None:
    shutil.rmtree(tiny / "scoring_program")
    (tiny / "scoring_program").symlink_to(ROOT / "scoring_program")
    assert "path-outside" not in {finding.code for finding in check(tiny)}


@pytest.mark.parametrize("value", ["../elsewhere/", "/usr/"])
def test_neither_are_names_that_lead_elsewhere(tiny: Path, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    write_files(tiny.parent, {"elsewhere/question.txt": "x"})
    swap(tiny / "competition.yaml", "input_data/practice/", value)
    words = ["--bundle", str(tiny), "--out", str(tiny.parent / "out")]
    assert main(["run", str(tiny / "solutions/half"), *words]) == 1
    assert "leads out of the bundle" in capsys.readouterr().err


def test_links_inside_a_folder_are_read_only_where_they_stay_inside(tmp_path: Path) -> None:
    write_files(tmp_path, {"bundle/a/x.txt": "x", "bundle/b/y.txt": "y", "secret.txt": "z"})
    folder = tmp_path / "bundle" / "a"
    (folder / "out.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "in.txt").symlink_to(folder / "x.txt")
    (folder / "beside.txt").symlink_to(tmp_path / "bundle" / "b" / "y.txt")
    (folder / "round.txt").symlink_to("round.txt")
    assert DataFiles(folder, tmp_path / "bundle").names() == ["beside.txt", "in.txt", "x.txt"]
    copy_zipped(folder, tmp_path / "copy", tmp_path / "copy.zip")
    assert sorted(path.name for path in (tmp_path / "copy").iterdir()) == ["in.txt", "x.txt"]


def page(bundle: Path) -> None:
    (bundle / "pages" / "other.md").write_text("# Other\n")
    (bundle / "pages" / "terms.md").unlink()
    (bundle / "pages" / "terms.md").symlink_to("other.md")


def logo(bundle: Path) -> None:
    (bundle / "logo.png").rename(bundle / "other.png")
    (bundle / "logo.png").symlink_to("other.png")


@pytest.mark.parametrize(("change", "code"), [(page, "page-missing"), (logo, "image-missing")])
def test_a_page_that_is_a_link_is_refused(tiny: Path, change: Callable[[Path], None], code: str) -> None:
    """Also one inside the bundle: the zip of `bundle build` would lack it."""
    change(tiny)
    assert (code, "error") in {(finding.code, finding.severity) for finding in check(tiny)}
    assert [finding.what for finding in check(tiny) if "and no link" in finding.what]


def test_a_zip_that_is_not_checked_is_not_run(tiny: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Python cuts a name at a NUL; the check refuses it."""
    archive, name = tiny.parent / "tiny.zip", b"input_data/practice/question.txt"
    zip_folder(tiny, archive)
    archive.write_bytes(archive.read_bytes().replace(name, name.replace(b"n.", b"n\0")))
    with zipfile.ZipFile(archive) as opened:
        assert "input_data/practice/question" in opened.namelist()
    assert "zip-name" in {finding.code for finding in check(archive)}
    words = ["--bundle", str(archive), "--out", str(tiny.parent / "out")]
    for command in ("run", "evaluate"):
        assert main([command, str(tiny / "solutions/half"), *words]) == 1
        assert "question\\x00txt" in capsys.readouterr().err
