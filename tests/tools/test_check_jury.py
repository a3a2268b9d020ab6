"""Ratings of a jury in the reference data: what scoring would refuse is found before."""

from pathlib import Path

import pytest

from bundle_tools.challenge.rules.clips.jury import check_jury
from bundle_tools.challenge.rules.clips.side import Side
from bundle_tools.codabench.rules.dataset import Dataset
from tests.jury.ratings import BROKEN, write


def codes(folder: Path, name: str | None = "jury.json") -> list[str]:
    settings = {} if name is None else {"jury": name}
    return [finding.code for finding in check_jury(Side("reference data", "ref", Dataset(folder), settings))]


@pytest.mark.parametrize("name", BROKEN)
def test_broken_ratings_are_found(name: str, tmp_path: Path) -> None:
    write(tmp_path / "jury.json", BROKEN[name])
    assert codes(tmp_path) == ["jury-broken"]


def test_good_missing_and_unreadable_ratings(tmp_path: Path) -> None:
    write(tmp_path / "jury.json", lambda _: None)
    assert codes(tmp_path) == []
    assert codes(tmp_path, None) == []
    assert codes(tmp_path, "other.json") == ["jury-missing"]
    (tmp_path / "jury.json").write_text("{")
    assert codes(tmp_path) == ["jury-broken"]
