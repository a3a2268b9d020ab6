"""The report's pages in a real browser: they work everywhere, for everybody, and nothing in them comes alive."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bundle_tools.cli.main import main as bundle
from tests import ROOT
from tests.scoring.browser import Browser, Tab, chromium
from tests.scoring.conftest import run_scoring
from tests.scoring.factory import Case, full_explanation, make_case, make_input, recorded, write_manifest

pytestmark = pytest.mark.browser
PAGES = ("practice", "final", "failed", "comparison")
COMPETITION = """\
tasks: [{index: 0, name: Practice, scoring_program: scoring_program, reference_data: reference}]
phases: [{index: 0, name: Practice, tasks: [0]}]
leaderboards: [{columns: [{index: 0, key: explanation, title: Explanation score}]}]
"""
ATTACK = (
    "</bdi></p></script><script>window.attacked = 1</script><img src=x onerror='window.attacked = 2'>"
    "<svg onload='window.attacked = 3'></svg><style>*{display:none}</style>\u202egnorw\u2066\x1b[31m&lt;b&gt;"
    "<iframe srcdoc='<script>parent.attacked = 4</script>'></iframe>{{ 6 * 7 }}<base href=//evil.example/>"
)
EMBEDDED = {
    "src": "<iframe src='{name}' width=800 height=600></iframe>",
    "srcdoc": "<iframe srcdoc='{text}' width=800 height=600></iframe>",
}
FOCUSABLE = "summary, button, input, select, textarea, a[href], [tabindex='0']"


@dataclass(frozen=True)
class Site:
    """Every kind of page, on disk."""

    pages: dict[str, Path]
    scores: dict[str, float]
    """Of the practice page."""


def scored(root: Path, case: Case, code: int = 0) -> Path:
    done = run_scoring(make_input(root, case), root / "output")
    assert done.code == code, done.log
    return done.out


def failed(root: Path) -> Path:
    found = "SyntaxError: expected ':' (model.py, line 4)"
    problem = recorded("model_not_importable", "load", where="model.py", found=found, fix="correct line 4")
    case = make_case(clips=4)
    case.run = {"status": "invalid", "problems": [problem]}
    return scored(root, case, code=1)


def some_failed() -> Case:
    """An ordinary run: most clips went well, two did not, and one explanation is short of everything."""
    statuses = ["ok"] * 5 + ["failed", "not_reached", "ok"]
    case = make_case(clips=8, statuses=statuses, report={"clips": True, "truth": True, "gallery": 3})
    silent = case.clip_ids[0]
    case.explain = lambda clip_id: (
        {"text": "short", "image": None, "evidence": None} if clip_id == silent else full_explanation(clip_id)
    )
    return case


def compared(root: Path, *runs: Path) -> Path:
    (root / "competition.yaml").write_text(COMPETITION)
    (root / "scoring_program").symlink_to(ROOT / "scoring_program")
    (root / "reference").symlink_to(runs[0] / "ref")
    target = root / "comparison.html"
    paths = [str(run / "res") for run in runs]
    assert bundle(["compare", *paths, "--bundle", str(root), "--resamples", "50", "--html", str(target)]) == 0
    return target


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    root = tmp_path_factory.mktemp("site")
    practice = scored(root / "practice", some_failed())
    closed = make_case(clips=8, report={"clips": False, "truth": False, "gallery": 0})
    folders = {"practice": practice, "final": scored(root / "final", closed), "failed": failed(root / "failed")}
    for name, order in (("worse", [*range(7, -1, -1)]), ("worst", [1, 0, 3, 2, 5, 4, 7, 6])):
        other = make_case(clips=8)
        other.prediction = other.prediction[order].copy()
        make_input(root / name, other)
    pages = {name: folder / "detailed_results.html" for name, folder in folders.items()}
    pages["comparison"] = compared(root, *(root / name for name in ("practice", "worse", "worst")))
    return Site(pages, json.loads((practice / "scores.json").read_text()))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_quiet_self_contained_and_accessible(browser: Browser, site: Site, name: str, scheme: str) -> None:
    with browser.tab(site.pages[name], color_scheme=scheme) as tab:
        assert tab.page.locator("h1").bounding_box()["y"] < 160
        background = tab.page.evaluate("getComputedStyle(document.body).backgroundColor")
        red = int(re.findall(r"\d+", background)[0])
        assert red < 64 if scheme == "dark" else red > 192
        tab.open_details()
        # Dark pages are light ones in other colours.
        assert tab.accessibility(*(["color-contrast"] if scheme == "dark" else [])) == []
        assert tab.width() <= 1280
    assert tab.heard == []


def test_every_picture_can_be_seen(browser: Browser, site: Site) -> None:
    with browser.tab(site.pages["practice"]) as tab:
        widths = tab.page.evaluate(
            """() => Promise.all(Array.from(document.images, image => {
              image.loading = "eager";
              return image.decode().then(() => image.naturalWidth);
            }))"""
        )
        assert len(widths) > 1
        assert min(widths) > 100


@pytest.mark.parametrize("name", PAGES)
def test_on_a_phone_nothing_scrolls_sideways(browser: Browser, site: Site, name: str) -> None:
    with browser.tab(site.pages[name], 360, 740) as tab:
        assert tab.width() <= 360
        tab.open_details()
        assert tab.width() <= 360


@pytest.mark.parametrize("name", PAGES)
def test_on_paper_it_is_dark_on_light_and_without_controls(browser: Browser, site: Site, name: str) -> None:
    with browser.tab(site.pages[name], 794, 1123, color_scheme="dark") as tab:
        tab.page.emulate_media(media="print", color_scheme="dark")
        ink, paper = (
            int(re.findall(r"\d+", tab.page.evaluate(f"getComputedStyle(document.body).{what}"))[0])
            for what in ("color", "backgroundColor")
        )
        assert (ink < 64, paper > 192) == (True, True)
        assert tab.page.locator("form:visible, fieldset:visible, select:visible").count() == 0
        assert tab.width() <= 794
        assert tab.page.locator("h1").is_visible()
        assert all(table.evaluate("table => table.checkVisibility()") for table in tab.page.locator(".scores").all())


def test_without_scripts_every_score_is_there(browser: Browser, site: Site) -> None:
    with browser.tab(site.pages["practice"], java_script_enabled=False) as tab:
        text = "\n".join(tab.page.locator("main table, main h1").all_text_contents())
        assert tab.page.locator("fieldset:visible, form:visible").count() == 0
        for key, value in site.scores.items():
            places = {"explanation": 2, "failed_clips": 0, "duration_s": 1}.get(key, 3)
            # scores.json is rounded already: a 5 at its end may have been a little less.
            shown = {f"{value + nudge:.{places}f}".replace("-", "−") for nudge in (-5e-5, 0, 5e-5)}
            assert any(number in text for number in shown), key
    assert tab.heard == []


def test_every_control_is_reached_with_the_tab_key(browser: Browser, site: Site) -> None:
    with browser.tab(site.pages["practice"]) as tab:
        tab.open_details()
        # Of radio buttons of one name, the tab key reaches one; the arrow keys move among them.
        wanted = tab.page.evaluate(
            """selector => {
              const names = new Set();
              window.wanted = Array.from(document.querySelectorAll(selector)).filter(one => one.checkVisibility()
                && !(one.type === "radio" && !one.checked));
              window.reached = new Set();
              document.addEventListener("focusin", event => window.reached.add(event.target));
              return window.wanted.length;
            }""",
            FOCUSABLE,
        )
        assert wanted > 0
        for _ in range(wanted + 20):
            tab.page.keyboard.press("Tab")
        missed = "window.wanted.filter(one => !window.reached.has(one)).map(one => one.outerHTML.slice(0, 120))"
        assert tab.page.evaluate(missed) == []


def test_details_open_and_close_with_the_keyboard(browser: Browser, site: Site) -> None:
    with browser.tab(site.pages["practice"]) as tab:
        first = tab.page.locator("main > section > details").first
        first.locator("summary").first.focus()
        tab.page.keyboard.press("Enter")
        assert first.evaluate("one => one.open")
        tab.page.keyboard.press("Space")
        assert not first.evaluate("one => one.open")


def test_tables_are_sorted_with_the_keyboard(browser: Browser, site: Site) -> None:
    with browser.tab(site.pages["comparison"]) as tab:
        table = tab.page.locator("table[data-sortable]").first
        for direction, reverse in (("ascending", False), ("descending", True)):
            table.locator("thead button").nth(1).press("Enter")
            assert table.locator("thead th").nth(1).get_attribute("aria-sort") == direction
            values = [float(text) for text in table.locator("tbody tr td:nth-of-type(1)").all_inner_texts()]
            assert len(values) > 3
            assert values == sorted(values, reverse=reverse)


def test_the_theme_is_switched_with_the_keyboard(browser: Browser, site: Site) -> None:
    with browser.tab(site.pages["practice"], color_scheme="light") as tab:
        shade = "parseInt(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])"
        tab.page.locator("[data-theme-switch] input:checked").focus()
        found = {"light": tab.page.evaluate(shade)}
        for _ in range(3):
            tab.page.keyboard.press("ArrowRight")
            found[tab.page.locator("[data-theme-switch] input:checked").get_attribute("value")] = tab.page.evaluate(
                shade
            )
        assert found["dark"] < 64
        assert found["light"] > 192
        assert found["auto"] == found["light"]


def test_clips_are_filtered_with_the_keyboard(browser: Browser, site: Site) -> None:
    with browser.tab(site.pages["practice"]) as tab:
        form = tab.page.locator("form[data-filter]").first
        shown = f"#{form.get_attribute('data-filter')} [data-item]:not([hidden])"
        every = tab.page.locator(shown).count()
        field = form.locator("input").first
        field.focus()
        tab.page.keyboard.type("no clip is called this")
        assert tab.page.locator(shown).count() == 0
        for _ in range(30):
            tab.page.keyboard.press("Backspace")
        assert tab.page.locator(shown).count() == every > 1


FRAMES = {
    # The dialog of a submission; the platform sets no sandbox (codabench 1.25), a stricter one might.
    "dialog": '<iframe src="{src}" style="width:100%;height:530px;border:0"></iframe>',
    "sandboxed": '<iframe sandbox="allow-scripts" srcdoc="{srcdoc}" style="width:100%;height:530px;border:0"></iframe>',
    "no scripts": '<iframe sandbox srcdoc="{srcdoc}" style="width:100%;height:530px;border:0"></iframe>',
}


@pytest.mark.parametrize("frame", FRAMES)
def test_in_the_frames_of_the_platform(browser: Browser, site: Site, tmp_path: Path, frame: str) -> None:
    page = site.pages["practice"]
    quoted = page.read_text().replace("&", "&amp;").replace('"', "&quot;")
    (tmp_path / "host.html").write_text("<!doctype html>" + FRAMES[frame].format(src=page.as_uri(), srcdoc=quoted))
    with browser.tab(tmp_path / "host.html", 920, 700) as tab:
        inside = tab.page.frames[1]
        heading = inside.locator("h1")
        heading.wait_for()
        assert heading.bounding_box()["y"] < 300
        inside.locator("main > section details > summary").first.click()
        assert inside.locator("main > section details[open]").count() >= 1
        assert inside.evaluate("document.documentElement.scrollWidth <= innerWidth") or frame == "no scripts"
    blocked = "Blocked script execution"  # what Chromium says of a frame that allows no scripts
    # The driver holds a page still with a style while it clicks, on a busy machine; the page itself has none.
    held = "Applying inline style violates"
    assert not re.search(r"<[^>]* style=", page.read_text())
    own = (f"request: {page.as_uri()[:99]}", "request: about:srcdoc")
    assert [line for line in tab.heard if not line.startswith(own) and blocked not in line and held not in line] == []


def hostile(root: Path) -> Path:
    """A run in which everything that a participant can write is an attack."""
    problem = {
        "severity": "error", "fault": "participant", **dict.fromkeys(("where", "found", "expected", "fix"), ATTACK),
    }  # fmt: skip
    case = make_case(clips=4, statuses=["ok", "ok", "ok", "failed"])
    cues = [{"cue": cue, "target": "interview", "contribution": 0.5} for cue in (ATTACK, "smile")]
    case.explain = lambda clip_id: {
        **full_explanation(clip_id),
        "text": f"The smile raised the interview score. {ATTACK}",
        "evidence": {"space": None, "time": None, "cues": cues},
    }
    stages = ("predict", "explain", ATTACK)
    case.problems = {
        clip_id: [{"code": code, "stage": stage, **problem} for stage in stages for code in ("model_raised", ATTACK)]
        for clip_id in case.clip_ids
    }
    words = ("machine", "python", "isolation", "submission_sha256", "settings_sha256", "program_version")
    case.run = dict.fromkeys(words, ATTACK) | {"packages": {ATTACK: ATTACK}}
    make_input(root, case)
    (root / "res" / "log.txt").write_text(ATTACK)
    write_manifest(root / "res")
    (root / "res" / f"{ATTACK.replace('/', '∕')[:80]}.html").write_text(ATTACK)
    return root


def refused(root: Path) -> Path:
    """A submission that is refused with attacks for reasons."""
    case = make_case(clips=4)
    fields = ("code", "stage", "where", "found", "expected", "fix")
    case.run = {"status": "invalid", "problems": [{**dict.fromkeys(fields, ATTACK), "fault": "participant"}]}
    return scored(root, case, code=1) / "detailed_results.html"


def assert_inert(tab: Tab) -> None:
    tab.open_details()
    assert tab.page.evaluate("window.attacked") is None
    assert tab.page.locator("iframe, base, object, embed, link, main style").count() == 0
    # The one script in the text is data: the numbers of the page for machines.
    assert tab.page.locator("main script:not([type='application/json'])").count() == 0
    attributes = "Array.from(document.querySelectorAll('*')).flatMap(one => one.getAttributeNames())"
    handlers = tab.page.evaluate(f"{attributes}.filter(name => name.startsWith('on'))")
    assert handlers == []
    assert tab.page.evaluate(r"/[\u202a-\u202e\u2066-\u2069\x1b]/.test(document.documentElement.outerHTML)") is False
    text = tab.page.locator("main").inner_text()
    assert "<script>window.attacked = 1</script>" in text
    assert "{{ 6 * 7 }}" in text
    assert tab.page.locator("h1").is_visible()


def test_nothing_that_a_participant_writes_comes_alive(browser: Browser, tmp_path: Path) -> None:
    root = hostile(tmp_path / "<svg onload=attacked=5>")
    other = make_input(tmp_path / "other", make_case(clips=4))
    done = run_scoring(root, root / "output")
    pages = [done.out / "detailed_results.html", refused(tmp_path / "refused"), compared(tmp_path, root, other)]
    for page in pages:
        with browser.tab(page) as tab:
            assert_inert(tab)
        assert tab.heard == []


@pytest.mark.parametrize("frame", EMBEDDED)
def test_links_to_sections_stay_in_the_report_wherever_it_is_shown(
    site: Site, browser: Browser, tmp_path: Path, frame: str
) -> None:
    report = site.pages["practice"]
    (tmp_path / "report.html").write_bytes(report.read_bytes())
    text = report.read_text("utf-8").replace("&", "&amp;").replace("'", "&#39;")
    around = tmp_path / "around.html"
    around.write_text(f"<title>Around</title>{EMBEDDED[frame].format(name='report.html', text=text)}", "utf-8")
    with browser.tab(around) as tab:
        inside = tab.page.frames[1]
        links = inside.locator("nav a[href^='#']")
        assert links.count() > 2
        for number in range(links.count()):
            links.nth(number).click()
            section = inside.locator(links.nth(number).get_attribute("href"))
            top = section.evaluate("element => element.getBoundingClientRect().top")
            assert -1 <= top < 600, (frame, number)
            assert inside.title() != "Around"
