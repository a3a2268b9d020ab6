"""Pages and guides are current: pages are what their templates give, and the few figures in guides are right."""

import pytest

from bundle_tools.challenge.enough import points_apart
from bundle_tools.challenge.pages.figures import figures, number
from bundle_tools.challenge.pages.phase import phases_of
from bundle_tools.challenge.pages.write import open_bundle, pages_of
from bundle_tools.challenge.rules.phases import EXAMPLE_CALL_S
from bundle_tools.phase_data.files import templates_in
from tests import ROOT

GUIDES = {
    "docs/coopetition.md": ["passes {{ credits_passed_on_percent }} % of what it receives"],
    "docs/language.md": ["has {{ text_min }} to {{ text_max }} characters"],
    "docs/metrics.md": ["over {{ repeats_min }} to {{ repeats_max }} perturbed copies"],
    "docs/output_format.md": ["5 % of the calls ({{ repeats_min }} to {{ repeats_max }})"],
    "docs/participant.md": [
        *(f"| {{{{ axes[{row}].title|lower }}}}, weight {{{{ axes[{row}].share }}}} |" for row in range(5)),
    ],
    "docs/publishing.md": ["About {{ calls_all }} calls per clip", "out of {{ time_limit_s }} s:"],
    "README.md": [f"| {{{{ axes[{row}].title|lower }}}} | {{{{ axes[{row}].share }}}} |" for row in range(5)],
}


def test_every_page_is_what_its_template_gives() -> None:
    pages = list(pages_of(open_bundle(ROOT)))
    assert {page.path.name for page in pages} == {path.name for path in (ROOT / "pages").glob("*.md")}
    assert [note for page in pages for note in page.notes()] == []


@pytest.mark.parametrize("guide", GUIDES)
def test_figures_in_guides_are_current(guide: str) -> None:
    text, known = (ROOT / guide).read_text("utf-8"), figures(open_bundle(ROOT))
    for template in GUIDES[guide]:
        assert templates_in(ROOT).from_string(template).render(known) in text


def test_what_clips_can_tell_apart_is_current() -> None:
    (phase, _), text = phases_of(open_bundle(ROOT)), (ROOT / "docs/publishing.md").read_text("utf-8")
    for clips in (24, 120, 240):
        calls = clips * phase.calls
        apart, example, left = round(points_apart(clips)), round(calls * EXAMPLE_CALL_S), phase.working_time_s / calls
        assert f"- **{clips} clips**: {apart} points; the example runs {number(example)} s; {left:.2f} s\n" in text
