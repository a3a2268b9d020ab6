"""Sheets: what jurors see and do not see, in which order; and a whole session in a real browser."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import av
import pytest

from bundle_tools.canonical import LARGEST_SHOWN, for_browser
from bundle_tools.challenge.jury.criteria import Key, read_key
from bundle_tools.challenge.jury.panel import read_answers
from bundle_tools.cli.main import main
from tests import there
from tests.challenge.jury.finalists import PHASE, make_bundle, make_run
from tests.challenge.jury.juries import RULES
from tests.ingestion.clips import Format, write_clip
from tests.scoring.browser import Browser, Tab, chromium

if TYPE_CHECKING:
    from playwright.sync_api import Dialog, Page

WIDE = Format(width=700, height=400, audio=None)
JURORS = 3
PICTURE = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='640' height='360'/>"


@pytest.fixture(scope="module")
def jury(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three finalists of a small phase, one of them without some explanations."""
    folder = tmp_path_factory.mktemp("jury")
    bundle = make_bundle(folder / "bundle")
    runs = [str(make_run(folder / name, bundle, name)) for name in ("honest-team", "other-team", "silent-team")]
    words = ["jury", "make", *runs, "--out", str(folder / "jury"), "--jurors", str(JURORS), "--clips", "6"]
    assert main([*words, "--seed", "test", "--bundle", str(bundle)]) == 0
    return folder


@pytest.fixture(scope="module")
def key(jury: Path) -> Key:
    return read_key(jury / "jury" / "key.json")


def sheet(jury: Path, juror: int) -> dict[str, list[dict[str, object]]]:
    page = (jury / "jury" / f"sheet-{juror}.html").read_text("utf-8")
    found = there(re.search(r'id="content">(.*?)</script>', page))
    content: dict[str, list[dict[str, object]]] = json.loads(found.group(1))
    return content


def test_every_juror_rates_the_same_items(jury: Path, key: Key) -> None:
    ids = [[str(item["id"]) for item in sheet(jury, juror)["items"]] for juror in (1, 2, 3)]
    assert {tuple(sorted(one)) for one in ids} == {tuple(sorted(item.item_id for item in key.items))}
    assert len({tuple(one) for one in ids}) == JURORS
    kinds = Counter(item.kind for item in key.items)
    genuine = len(key.clips) * 3 - len(key.missing)
    assert kinds == {"genuine": genuine, "boilerplate": 2, "repeat": round(0.1 * genuine)}


def test_nothing_tells_who_wrote_what_or_what_is_true(jury: Path, key: Key) -> None:
    with (jury / "bundle" / "reference_data" / PHASE / "labels.csv").open() as file:
        labels = {cell for row in list(csv.reader(file))[1:] for cell in row[2:] if len(cell) > 4}
    for juror in (1, 2, 3):
        page = (jury / "jury" / f"sheet-{juror}.html").read_text("utf-8")
        words = page.split('id="clip-0"')[0]
        assert labels
        assert not [label for label in labels if label in words]
        for secret in ("honest", "other-team", "silent", "genuine", "boilerplate", *key.clips):
            assert secret not in words
    content = sheet(jury, 1)
    assert all(set(item) == {"id", "clip", "text", "image", "values"} for item in content["items"])


def test_teams_come_in_latin_squares_and_repeats_far_apart(jury: Path, key: Key) -> None:
    items = {item.item_id: item for item in key.items}
    first: Counter[str] = Counter()
    complete = [clip for clip in key.clips if clip not in {missing for _, missing in key.missing}]
    for juror in range(1, JURORS + 1):
        order = [items[str(item["id"])] for item in sheet(jury, juror)["items"]]
        places = {item.item_id: place for place, item in enumerate(order)}
        for clip in complete:
            first[next(item.letter for item in order if item.clip_id == clip and item.kind == "genuine")] += 1
        for item in order:
            if item.kind == "repeat":
                assert abs(places[item.item_id] - places[item.of]) > len(order) // 4
    assert max(first.values()) - min(first.values()) <= 2


def test_only_the_words_of_a_control_differ(jury: Path, key: Key) -> None:
    shown = {str(item["id"]): item for item in sheet(jury, 1)["items"]}
    controls = [item for item in key.items if item.kind == "boilerplate"]
    assert any(shown[item.item_id]["image"] for item in controls)
    for item in controls:
        control, own = shown[item.item_id], shown[item.of]
        assert [control[what] for what in ("clip", "image", "values")] == [
            own[what] for what in ("clip", "image", "values")
        ]
        assert control["text"] != own["text"]


def test_no_person_is_shown_twice_and_all_levels_are(jury: Path, key: Key) -> None:
    with (jury / "bundle" / "reference_data" / PHASE / "labels.csv").open() as file:
        rows = {row["clip_id"]: row for row in csv.DictReader(file)}
    assert len({rows[clip]["source_id"] for clip in key.clips}) == len(key.clips) == 6
    ranked = sorted(rows, key=lambda clip: float(rows[clip]["interview"]))
    assert {ranked.index(clip) * 5 // len(ranked) for clip in key.clips} == set(range(5))


def test_the_same_seed_gives_the_same_jury(jury: Path, key: Key, tmp_path: Path) -> None:
    runs = [str(jury / name) for name in ("honest-team", "other-team", "silent-team")]
    words = ["jury", "make", *runs, "--out", str(tmp_path / "again"), "--jurors", "3", "--clips", "6", "--bundle"]
    assert main([*words, str(jury / "bundle"), "--seed", "test"]) == 0
    assert read_key(tmp_path / "again" / "key.json") == key
    assert main([*words, str(jury / "bundle"), "--seed", "test"]) == 1  # never over an older key


def test_missing_explanations_are_named(jury: Path, key: Key) -> None:
    letter = next(team.letter for team in key.teams if team.name == "silent-team")
    assert key.missing
    assert {one for one, _ in key.missing} == {letter}


def test_clips_that_browsers_cannot_play_are_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = write_clip(tmp_path / "plain.mp4", 12, Format(width=64, height=48))
    assert for_browser(plain) == plain.read_bytes()
    monkeypatch.setattr("bundle_tools.canonical.UNCHANGED_BITS", 1_000)
    assert for_browser(plain) != plain.read_bytes()  # too large for a sheet with many
    odd = write_clip(tmp_path / "odd.mkv", 12, Format(width=900, height=506, codec="mpeg4"))
    (tmp_path / "made.mp4").write_bytes(for_browser(odd))
    with av.open(str(tmp_path / "made.mp4")) as made:
        video = made.streams.video[0]
        assert (video.codec_context.name, video.codec_context.pix_fmt) == ("h264", "yuv420p")
        assert (video.width, video.height) == (LARGEST_SHOWN, 360)
        assert [stream.codec_context.name for stream in made.streams.audio] == ["aac"]
        assert sum(1 for _ in made.decode(video=0)) == 12
    with av.open(str(tmp_path / "made.mp4")) as made, av.open(str(odd)) as given:
        sound, original = list(made.decode(audio=0)), list(given.decode(audio=0))
    end_s = float(sound[-1].time or 0) + sound[-1].samples / sound[-1].sample_rate
    given_s = sum(frame.samples / frame.sample_rate for frame in original)
    assert end_s == pytest.approx(given_s, abs=0.05)  # but for two blocks of the coder


def test_frames_keep_their_own_times(tmp_path: Path) -> None:
    times = [0, 20, 40, 60, 400, 800, 1200, 1233, 1250, 2000]
    (tmp_path / "made.mp4").write_bytes(for_browser(write_clip(tmp_path / "odd.mkv", 10, WIDE, times)))
    with av.open(str(tmp_path / "made.mp4")) as made:
        found = [round(1000 * float(frame.time or 0)) for frame in made.decode(video=0)]
    assert found == pytest.approx(times, abs=2)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """An empty page, with a storage of its own."""
    context = browser.engine.new_context(accept_downloads=True)
    yield context.new_page()
    context.close()


@pytest.mark.browser
def test_a_whole_session_by_keyboard(jury: Path, key: Key, page: Page, tmp_path: Path) -> None:
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    address = (jury / "jury" / "sheet-2.html").as_uri()
    page.goto(address)
    page.keyboard.press("Enter")  # Begin is what the page starts with
    items = sheet(jury, 2)["items"]
    for number, item in enumerate(items):
        if number == len(items) // 2:
            page.reload()
            page.keyboard.press("Enter")
        assert page.inner_text("#item-title").startswith(f"Explanation {number + 1} of {len(items)}, ")
        assert page.inner_text("#text") == item["text"]
        page.focus("#video")  # as after a click on it; Enter is for the sheet there too
        page.keyboard.press("Enter")  # refused: not finished
        assert "Still open" in page.inner_text("#missing")
        assert page.locator("#next.primary").count() == 0
        for digit in "43210":
            page.keyboard.press(digit)
        assert page.locator("#next.primary").count() == 1
        page.keyboard.press("Enter")
    assert "Everything is answered" in page.inner_text("#end-text")
    assert page.evaluate("document.getElementById('video').error") is None
    with page.expect_download() as download:
        page.keyboard.press("s")
    assert download.value.suggested_filename == "ratings-2.json"
    assert page.inner_text("#saved") == "Saved as ratings-2.json"
    assert "saved as ratings-2.json" in page.inner_text("#end-text")
    download.value.save_as(tmp_path / "ratings.json")
    (answers,) = read_answers([tmp_path / "ratings.json"], key, RULES)
    assert answers.juror == 2
    assert len(answers.items) == len(items)
    assert {answer.ratings for answer in answers.items.values()} == {(4, 3, 2, 1, 0)}
    assert said == []
    assert {url.split(":")[0] for url in asked} <= {"file", "blob", "data"}


@pytest.mark.browser
def test_a_saved_file_goes_on_elsewhere_and_hostile_texts_stay_inert(jury: Path, page: Page, tmp_path: Path) -> None:
    page.goto((jury / "jury" / "sheet-1.html").as_uri())
    page.evaluate("localStorage.clear()")
    page.click("#begin")
    page.keyboard.press("x")
    page.keyboard.press("Enter")
    with page.expect_download() as download:
        page.click("#save")
    download.value.save_as(tmp_path / "part.json")
    page.evaluate("localStorage.clear()")
    page.reload()
    page.set_input_files("#load", str(tmp_path / "part.json"))
    page.wait_for_selector("#work:not([hidden])")
    assert page.inner_text("#progress").startswith("1 of")
    assert page.inner_text("#item-title").startswith("Explanation 2 of")
    for _ in sheet(jury, 1)["items"]:
        assert page.evaluate("window.broken") is None
        assert page.locator("#text *").count() == 0
        page.keyboard.press("x")
        page.keyboard.press("Enter")
    assert page.inner_text("#end-title") == "The end of the sheet"


@pytest.mark.browser
def test_a_slip_is_taken_back_and_a_saved_file_loses_nothing(jury: Path, page: Page, tmp_path: Path) -> None:
    page.goto((jury / "jury" / "sheet-1.html").as_uri())
    page.click("#begin")
    for key in "x\n":
        page.keyboard.press("Enter" if key == "\n" else key)
    with page.expect_download() as download:
        page.keyboard.press("s")
    download.value.save_as(tmp_path / "early.json")
    for key in "44":
        page.keyboard.press(key)
    page.keyboard.press("c")
    assert page.locator("#criteria :checked").count() == 1
    for key in "cc":
        page.keyboard.press(key)
    assert page.locator(".item :checked").count() == 0
    for key in "23450":
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    page.set_input_files("#load", str(tmp_path / "early.json"))  # older than what is here
    page.get_by_role("heading", name="Explanation 3 of").wait_for()
    assert page.inner_text("#progress").startswith("2 of")
    assert "min to go" in page.inner_text("#progress")


@pytest.mark.browser
def test_what_this_browser_cannot_do_is_said(jury: Path, page: Page, tmp_path: Path) -> None:
    text = (jury / "jury" / "sheet-1.html").read_text("utf-8")
    assert text.count('id="clip-') == 6
    (tmp_path / "sheet.html").write_text(re.sub(r'(id="clip-\d">)[^<]*', r"\1bm8gdmlkZW8=", text), "utf-8")
    page.goto((tmp_path / "sheet.html").as_uri())
    assert not page.is_visible("#unkept")
    page.click("#begin")
    page.wait_for_selector("#unplayable:not([hidden])")
    page.add_init_script("Storage.prototype.setItem = () => { throw new Error('full'); }")
    page.reload()
    assert page.is_visible("#unkept")
    page.click("#begin")
    page.keyboard.press("3")  # an answer
    assert page.is_visible("#unkept")
    closing: list[str] = []

    def close(dialog: Dialog) -> None:
        closing.append(dialog.type)
        dialog.accept()

    page.on("dialog", close)
    page.reload()
    assert closing == ["beforeunload"]


@pytest.mark.browser
def test_everything_is_in_sight_and_has_a_name(jury: Path, page: Page) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    page.goto((jury / "jury" / "sheet-1.html").as_uri())
    said = Tab(page).accessibility()
    page.click("#begin")
    assert [*said, *Tab(page).accessibility()] == []
    bottom = (
        "Math.max(...[...document.querySelectorAll('#criteria .choices')].map(e => e.getBoundingClientRect().bottom))"
    )
    assert page.evaluate(bottom) < page.evaluate("document.querySelector('.go').getBoundingClientRect().top")
    # A long text and the largest picture stand beside them.
    page.evaluate("document.getElementById('text').textContent = 'some words '.repeat(40)")
    page.evaluate(
        f"document.getElementById('image').src = {PICTURE!r}; document.getElementById('image').hidden = false"
    )
    page.wait_for_function("document.getElementById('image').naturalWidth === 640")
    box = there(page.locator("#image").bounding_box())
    assert box["height"] > 120
    assert box["y"] + box["height"] <= 768
    for criterion in RULES.criteria:
        group = page.get_by_role("group", name=f"{criterion.title} {criterion.question}")
        assert group.get_by_role("radio").count() == 1 + RULES.highest - RULES.lowest
    for width in (360, 683):  # a phone, and 1366 pixels at 200 %
        page.set_viewport_size({"width": width, "height": 740})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
