"""Figures on the pages and in the guides are current."""

from pathlib import Path

from bundle_tools.challenge.figures.pages import look_through, open_bundle, told

ROOT = Path(__file__).resolve().parents[2]


def test_every_figure_is_current() -> None:
    assert [line for page in look_through(open_bundle(ROOT)) for line in told(page)] == []
