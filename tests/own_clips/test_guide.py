"""The guide to First Impressions V2 and MM-OCEAN, command by command."""

from pathlib import Path

import pytest

from tests.guides import run_lines, shell_blocks

from .sets import rows
from .test_observations import annotation


def test_every_command_works(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("downloads").symlink_to(source)
    phases, _, observations = shell_blocks("docs/first_impressions.md")
    # The miniature set has fewer clips than phases usually have.
    run_lines([f"{phases.strip()} --practice 6 --final 6"])
    known = next(row["name"] for row in rows(Path("real/private/clips.csv")) if row["part"] == "practice")
    annotations = Path("MM-OCEAN/data/test")
    annotations.mkdir(parents=True)
    (annotations / f"{known}.json").write_bytes(annotation(known))
    run_lines(observations.splitlines())
    assert Path("real/reference_data/practice/observations.json").is_file()
