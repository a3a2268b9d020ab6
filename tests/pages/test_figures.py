"""Figures on the pages and in the guides are current."""

from bundle_tools.challenge.figures.pages import look_through, open_bundle, told
from tests import ROOT


def test_every_figure_is_current() -> None:
    assert [line for page in look_through(open_bundle(ROOT)) for line in told(page)] == []
