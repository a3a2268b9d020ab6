"""Take pictures of the reports of the example solution, and of the pages, to be looked at: `make screenshots`.

Runs the solution on both phases, and a submission that cannot be judged, into ``build/screenshots/runs``; a run that is
there is used again. With ``--readme`` the picture of the README is written, too; with ``--pages`` nothing but the pages
is pictured, rendered as Codabench does; with ``--jury`` nothing but the pictures of the guides for jury and jurors is
written, with ``--overview`` nothing but those of the page *Overview*. Needs Chromium, and npm for the pages.
"""

import argparse
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright
from tqdm import tqdm

from bundle_tools.cli.main import main as bundle

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "build" / "screenshots"
README_PICTURE = ROOT / "docs" / "images" / "report.png"
SOLUTION = ROOT / "solutions" / "cue_reader"
BROKEN = "class Modell:\n    pass\n"
PAGE = "detailed_results.html"
REPORTS = ("practice", "final", "failed")
PAGE_VIEWS = ("desktop", "phone")
SHOW_ONE = "id => document.querySelectorAll('section').forEach(one => { one.hidden = one.id !== id })"
LARGEST = 200_000
"""Bytes of the README's picture."""
FINALISTS = ("solutions/cue_reader", "starting_kit/template", "solutions/constant")
SHEET_PICTURE, RESULT_PICTURE = (ROOT / "docs" / "images" / name for name in ("jury_sheet.jpg", "jury_result.png"))
LARGEST_OF_JURY = 120_000
"""Bytes of each picture of the jury."""


@dataclass(frozen=True)
class View:
    """How a page is looked at."""

    name: str
    """Part of the picture's file name."""
    width: int
    """Of the window, in pixels."""
    height: int
    """Of the window, in pixels."""
    scheme: str = "light"
    """The reader's theme."""
    media: str = "screen"
    """``print`` for paper."""
    whole: bool = False
    """Whether the picture is as long as the page."""


VIEWS = (
    View("desktop", 1280, 900),
    View("whole", 1280, 900, whole=True),
    View("dark", 1280, 900, scheme="dark"),
    View("phone", 360, 740, whole=True),
    View("dialog", 920, 530),  # of a submission, on the platform
    View("panel", 1100, 630),  # of the log: 70 % of a window
    View("paper", 794, 1123, media="print", whole=True),
)


def main() -> None:
    """Make the runs that are missing, then every picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--readme", action="store_true", help=f"also write {README_PICTURE.relative_to(ROOT)}")
    parser.add_argument("--pages", action="store_true", help="the pages only")
    parser.add_argument("--jury", action="store_true", help="the two pictures of the jury only")
    parser.add_argument("--overview", action="store_true", help="the pictures of the page Overview only")
    arguments = parser.parse_args()
    if arguments.jury:
        _take_jury()
        return
    if arguments.overview:
        _take_overview()
        return
    pages = {} if arguments.pages else {name: _page(name) for name in REPORTS}
    with sync_playwright() as driver:
        browser = _browser(driver)
        _take_pages(browser)
        shots = [(name, view) for name in pages for view in VIEWS]
        for name, view in tqdm(shots, unit="picture", disable=not shots):
            _take(browser, pages[name], view, OUT / f"{name}-{view.name}.png")
        if arguments.readme:
            _take(browser, pages["practice"], View("readme", 1160, 900), README_PICTURE)
        browser.close()
    if arguments.readme:
        _check_size(README_PICTURE, LARGEST)


def _browser(driver: Any) -> Any:  # noqa: ANN401 - Playwright's driver and browser
    path = shutil.which("chromium") or shutil.which("google-chrome")
    return driver.chromium.launch(executable_path=path, args=["--no-sandbox"])


def _check_size(picture: Path, most: int) -> None:
    if picture.stat().st_size > most:
        raise SystemExit(f"{picture}: {picture.stat().st_size} bytes, more than {most}.")


def _page(name: str) -> Path:
    """Give a report's page, made by the programs as they are now."""
    run = OUT / "runs" / name
    if name == "failed":
        broken = OUT / "broken"
        broken.mkdir(parents=True, exist_ok=True)
        (broken / "model.py").write_text(BROKEN)
        bundle(["run", str(broken), "--phase", "practice", "--out", str(run)])
        return run / "scoring_output" / PAGE
    if not (run / "ingestion_output" / "run.json").is_file():
        bundle(["run", str(SOLUTION), "--phase", name, "--out", str(run)])
    page = OUT / f"{name}.html"
    if bundle(["report", str(run), "--out", str(page)]):
        raise SystemExit(f"{run}: no report. Delete the folder and try again.")
    return page


def _take(browser: Any, page: Path, view: View, target: Path) -> None:  # noqa: ANN401 - Playwright's browser
    context = browser.new_context(
        viewport={"width": view.width, "height": view.height}, color_scheme=view.scheme, reduced_motion="reduce"
    )
    tab = context.new_page()
    tab.emulate_media(media=view.media, color_scheme=view.scheme)
    tab.goto(page.as_uri())
    tab.screenshot(path=target, full_page=view.whole)
    context.close()


def _take_pages(browser: Any) -> None:  # noqa: ANN401 - Playwright's browser
    """Take every page of the competition as the platform shows it, at a desktop's width and a phone's."""
    sys.path.insert(0, str(ROOT))
    from tests.pages.rendering import NoLibrariesError, install, shown_pages  # noqa: PLC0415 - the path is known now

    texts, folder = shown_pages(ROOT), OUT / "pages"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        try:
            document = install(Path(scratch)).document(list(texts.values()))
        except NoLibrariesError as error:
            sys.stderr.write(f"No pictures of the pages: {error}\n")
            return
        for view in (listed for listed in VIEWS if listed.name in PAGE_VIEWS):
            tab = browser.new_page(viewport={"width": view.width, "height": view.height})
            tab.goto(document.as_uri())
            for number, title in enumerate(texts):
                name = title.lower().replace(" ", "_")
                tab.evaluate(SHOW_ONE, f"page_{number}")
                tab.screenshot(path=folder / f"{name}-{view.name}.png", full_page=True)
            tab.close()


def _take_overview() -> None:
    """Take a clip, an explanation and a report of the example solution; `bundle pages` puts them into the page."""
    sys.path.insert(0, str(ROOT))
    from docs.images.overview_pictures import take_overview  # noqa: PLC0415 - the path is known now

    report, picture = _page("practice"), OUT / "practice-overview.png"
    with sync_playwright() as driver:
        browser = _browser(driver)
        _take(browser, report, View("overview", 1160, 900), picture)
        take_overview(OUT / "runs" / "practice", browser, picture)
        browser.close()


def _take_jury() -> None:
    """Take a sheet in the middle of an item, and the result of four invented jurors, one of them careless."""
    sys.path.insert(0, str(ROOT))
    from bundle_tools.challenge.jury.criteria import RatedItem, read_key  # noqa: PLC0415 - only here
    from tests.challenge.jury.juries import answers_of, honest, write_ratings  # noqa: PLC0415 - the path is known now

    runs = [OUT / "runs" / "jury" / Path(solution).name for solution in FINALISTS]
    for run, solution in zip(runs, FINALISTS, strict=True):
        if not (run / "ingestion_output" / "run.json").is_file():
            bundle(["run", str(ROOT / solution), "--phase", "final", "--out", str(run)])
    with tempfile.TemporaryDirectory() as temporary:
        jury = Path(temporary) / "jury"
        words = ["jury", "make", *map(str, runs), "--out", str(jury), "--jurors", "4", "--clips", "8"]
        if bundle([*words, "--seed", "picture", "--bundle", str(ROOT)]):
            raise SystemExit("No jury. Delete build/screenshots/runs/jury and try again.")
        key = read_key(jury / "key.json")
        likes = dict(zip((run.name for run in runs), (3.6, 3.2, 1.4), strict=True))
        fair = honest({team.letter: likes[team.name] for team in key.teams}, noise=0.9)

        def careless(juror: int, item: RatedItem) -> list[int]:
            """Rate an item the other way round the second time."""
            ratings = fair(juror, item)
            return [5 - rating for rating in ratings] if item.kind == "repeat" else ratings

        files = [
            write_ratings(
                jury / f"{juror}.json",
                key,
                juror,
                answers_of(key, juror, careless if juror == 4 else fair),
            )
            for juror in range(1, 5)
        ]
        scored = ["jury", "score", *map(str, files), "--key", str(jury / "key.json"), "--out", str(jury / "result")]
        if bundle(scored):
            raise SystemExit("The invented ratings were refused.")
        with sync_playwright() as driver:
            browser = _browser(driver)
            tab = browser.new_page(viewport={"width": 1366, "height": 768}, reduced_motion="reduce")
            tab.goto((jury / "sheet-1.html").as_uri())
            tab.click("#begin")
            for press in "43":
                tab.keyboard.press(press)
            tab.evaluate("document.getElementById('video').controls = false")
            tab.screenshot(path=SHEET_PICTURE, quality=45)
            _take(browser, jury / "result" / "jury.html", View("jury", 1040, 700), RESULT_PICTURE)
            browser.close()
    for picture in (SHEET_PICTURE, RESULT_PICTURE):
        _check_size(picture, LARGEST_OF_JURY)


if __name__ == "__main__":
    main()
