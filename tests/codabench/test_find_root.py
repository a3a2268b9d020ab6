"""Which bundle a command works on, when nobody says so."""

from pathlib import Path

import pytest

from bundle_tools.codabench.competition import find_root
from bundle_tools.errors import BundleError
from tests import ROOT


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    (tmp_path / "mine" / "pages" / "deep").mkdir(parents=True)
    (tmp_path / "mine" / "competition.yaml").touch()
    return tmp_path / "mine"


@pytest.mark.parametrize("place", [".", "pages", "pages/deep"])
def test_it_is_the_nearest_at_or_above_the_current_folder(
    bundle: Path, place: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(bundle / place)
    assert find_root() == bundle
    assert capsys.readouterr().err == ""


def test_elsewhere_it_is_the_one_of_the_command_which_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_root() == ROOT
    assert f"no competition.yaml at or above {tmp_path}; taking the bundle in {ROOT}" in capsys.readouterr().err


def test_a_folder_that_is_named_counts_alone(bundle: Path) -> None:
    assert find_root(bundle) == bundle
    with pytest.raises(BundleError, match="Use --bundle DIR"):
        find_root(bundle / "pages")
