"""One key of a settings file: set anew, wherever it stands, and nothing else touched."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from bundle_tools.errors import BundleError
from bundle_tools.phase_data.files import enter
from tests import ROOT

TEXT = """\
# What this is.
task: practice      # a name
report:
  clips: true   # everything

  # Shown:
  gallery: 24
weights: {a: 1, b: 2}   # sum 3
empty: {}
names:
  - one
  - two
last: 1
"""
CASES = [
    ("landmarks", "landmarks.json"),
    ("task", "final"),
    ("last", 2),
    ("names", ["three"]),
    ("report", {"clips": False}),
    ("report.key_frames", "key_frames.csv"),
    ("report.gallery", 3),
    ("report.clips", False),
    ("weights.a", 0.5),
    ("weights.c", {"x": [1, "two: three"]}),
    ("empty.d", None),
    ("task", "yes # no"),
]


@pytest.mark.parametrize(("key", "value"), CASES)
def test_the_key_and_nothing_else(tmp_path: Path, key: str, value: Any) -> None:  # noqa: ANN401
    path = tmp_path / "task.yaml"
    path.write_text(TEXT)
    assert enter(path, {key: value})
    wanted = yaml.safe_load(TEXT)
    section, _, name = key.rpartition(".")
    (wanted[section] if section else wanted)[name] = value
    assert yaml.safe_load(path.read_text()) == wanted
    kept = [line for line in TEXT.splitlines() if not line.lstrip().startswith((f"{name}:", f"{section or '-'}:"))]
    if not isinstance(yaml.safe_load(TEXT).get(name), (dict, list)):
        assert [line for line in path.read_text().splitlines() if line in kept] == kept
    assert not enter(path, {key: value})


def test_the_settings_of_this_repository(tmp_path: Path) -> None:
    for original in ROOT.glob("*_data/*/task.yaml"):
        path = tmp_path / "task.yaml"
        path.write_text(original.read_text())
        assert enter(path, {"new": "a.json", "targets": [1]})
        assert yaml.safe_load(path.read_text()) == {
            **yaml.safe_load(original.read_text()), "new": "a.json", "targets": [1]
        }  # fmt: skip


@pytest.mark.parametrize("text", ["", "- a\n", "report: 1\n", "a: [\n"])
def test_where_there_is_no_such_section(tmp_path: Path, text: str) -> None:
    path = tmp_path / "task.yaml"
    path.write_text(text)
    with pytest.raises(BundleError, match=r"task\.yaml: report\.x could not be written"):
        enter(path, {"report.x": 1})
    assert path.read_text() == text
