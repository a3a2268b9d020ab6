"""The report: nothing secret in it, nothing alive in it, nothing outside it."""

import base64
import hashlib
import re
import struct
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from score.landmarks import KeyFrames
from score.read.known import Known
from score.report.drawings import data_uri, jpeg_size
from score.report.write import contents, failure_page
from score.visible import one_line, visible
from tests import there
from tests.scoring.canary import CLIP_IDS, canary_case, secrets
from tests.scoring.conftest import Score
from tests.scoring.factory import full_explanation, jpeg, make_case, recorded, write_manifest
from tests.scoring.pages import ALLOWED, CLIPS_ONLY, HIDDEN, OPEN, Page, scored_of


@pytest.mark.parametrize("report", [HIDDEN, CLIPS_ONLY], ids=["hidden", "clips only"])
def test_the_templates_are_not_even_given_a_label(tmp_path: Path, report: dict[str, Any]) -> None:
    clips = bool(report["clips"])
    scored = scored_of(tmp_path, canary_case(report), key_frames=KeyFrames(tmp_path))
    assert np.isnan(scored.outcomes.truth).all()
    assert scored.outcomes.known == Known()
    assert (scored.key_frames == KeyFrames()) != clips
    assert scored.settings.skill_reference == {}
    data = contents(scored)
    assert secrets(clips=not clips).found_in([repr(data)]) == []
    assert [clip_id in repr(data) for clip_id in CLIP_IDS] == [clips] * 6
    assert sum(len(cards) for _, cards in data["explanations"]["groups"]) == (4 if clips else 0)
    given = repr(contents(scored_of(tmp_path / "open", canary_case(OPEN))))
    assert len([name for name in secrets().found_in([given]) if name.startswith("label 0")]) == 6  # the search can fail


@pytest.mark.parametrize("status", ["complete", "invalid"])
def test_a_hidden_phase_says_nothing_about_single_clips(score: Score, status: str) -> None:
    case = canary_case(HIDDEN)
    said = [recorded("predict_raised", found="clip 0 shows a person in red")]
    if status == "complete":
        case.problems = {case.clip_ids[0]: said}
    else:
        case.run = {"status": status, "problems": said}
    done = score(case)
    assert not any(clip_id in done.page + done.log for clip_id in case.clip_ids)
    assert "a person in red" not in done.page + done.log
    assert "predict_raised" in done.page
    assert ("the report shows totals only" in done.page) == (status == "complete")
    assert "data:image" not in done.page


ATTACKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "</style></title></textarea><iframe src=//evil.example>",
    "{{ 7 * 7 }}{% include '/etc/passwd' %}",
    "javascript:alert(1)",
    "&lt;script&gt;",
    "<!-- ",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_participants_write_stays_text(score: Score, attack: str) -> None:
    case = make_case(clips=4)
    padded = f"{attack} and a text of sufficient length"
    claim = {"cue": attack[:30], "target": "interview", "contribution": 0.5}
    case.explain = lambda clip_id: full_explanation(clip_id) | {"text": padded, "evidence": {"cues": [claim]}}
    case.problems = {case.clip_ids[1]: [recorded(attack, where=attack, found=attack, fix=attack)]}
    case.run = {"machine": attack, "python": attack, "packages": {attack: attack}, "isolation": attack}
    page = score(case).page
    parsed = Page(page)
    assert {tag for tag, _ in parsed.elements} <= ALLOWED
    assert [kind["type"] for tag, kind in parsed.elements if tag == "script"] == ["application/json", "module"]
    assert not [name for _, attributes in parsed.elements for name in attributes if name.startswith("on")]
    assert " ".join(padded.split()) in " ".join(parsed.text.split())
    links = {attributes["href"] for _, attributes in parsed.elements if "href" in attributes}
    sections = ("axes", "status", "numbers", "targets", "clips", "cues", "yours", "provenance")
    assert links == {f"#{name}" for name in sections}
    assert links <= {f"#{attributes['id']}" for _, attributes in parsed.elements if "id" in attributes}


def test_an_invalid_submission_cannot_inject_either(score: Score) -> None:
    case = make_case(clips=2, statuses=["failed", "failed"])
    case.run = {"status": "invalid", "problems": [recorded("predict_raised", found=attack) for attack in ATTACKS]}
    done = score(case)
    assert done.code == 1
    assert {tag for tag, _ in Page(done.page).elements} <= ALLOWED


def policy(page: str) -> str:
    """What may run on a page: its one style and its one script, by their hashes."""

    def allowed(start: str, end: str) -> str:
        [content] = re.findall(f"{start}(.*?){end}", page, re.S)
        return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"

    style, script = allowed("<style>", "</style>"), allowed('<script type="module">', "</script>")
    return f"default-src 'none'; img-src data:; style-src {style}; script-src {script}"


def test_the_page_is_self_contained(score: Score) -> None:
    page = score(make_case()).page
    parsed = Page(page)
    first_in_head = parsed.elements[2]
    assert first_in_head[0] == "meta"
    assert first_in_head[1] == {"http-equiv": "Content-Security-Policy", "content": policy(page)}
    assert dict(parsed.elements[0][1]) == {"lang": "en"}
    assert not re.search(r"https?:|url\(|@import", page)
    assert not [attributes for _, attributes in parsed.elements if "style" in attributes]
    images = [attributes for tag, attributes in parsed.elements if tag == "img"]
    assert len(images) == 4
    assert all((image["src"] or "").startswith("data:image/jpeg;base64,") and image["alt"] for image in images)
    drawings = [attributes for tag, attributes in parsed.elements if tag == "svg"]
    assert all(drawing.get("aria-label") or drawing.get("aria-hidden") == "true" for drawing in drawings)
    names = [attributes["id"] for _, attributes in parsed.elements if "id" in attributes]
    assert len(names) == len(set(names))


def test_the_gallery_does_not_depend_on_labels(score: Score) -> None:
    case = make_case(clips=30)
    shown = re.findall(r'id="(clip-\w+)"', score(case).page)
    case.truth = case.truth[::-1].copy()
    assert re.findall(r'id="(clip-\w+)"', score(case).page) == shown
    assert len(shown) == 4


def segment(marker: int, content: bytes) -> bytes:
    return bytes([0xFF, marker]) + (len(content) + 2).to_bytes(2, "big") + content


def with_extras(data: bytes) -> bytes:
    """A comment, a place, a profile, and something behind the end."""
    extras = segment(0xFE, b"<script>alert(1)</script>") + segment(0xE1, b"Exif: GPS 52.5 N") + segment(0xE2, b"ICC")
    return data[:2] + extras + data[2:] + b"<script>alert(2)</script>"


def test_pictures_keep_nothing_but_their_pixels(score: Score) -> None:
    case = make_case(clips=2)

    def dirty(root: Path) -> None:
        for path in (root / "res" / "images").iterdir():
            path.write_bytes(with_extras(path.read_bytes()))
        write_manifest(root / "res")

    sources = re.findall(r'src="data:image/jpeg;base64,([^"]+)"', score(case, dirty).page)
    assert len(sources) == 2
    for source in sources:
        data = base64.b64decode(source)
        assert not any(word in data for word in (b"script", b"GPS", b"ICC"))
        assert jpeg_size(data) == (355, 200)


def test_where_pictures_are_closed_a_report_shows_none(score: Score) -> None:
    case = make_case(clips=2)
    case.settings["report"]["pictures"] = False
    page = score(case).page
    assert "data:image" not in page
    assert page.count("Reports of this phase show no pictures.") == 2
    case.settings["report"]["key_frames"] = "key_frames.csv"
    refused = score(case)
    assert refused.code == 2
    assert "key_frames with pictures: false" in refused.log


@pytest.mark.parametrize("options", [[], [cv2.IMWRITE_JPEG_PROGRESSIVE, 1], [cv2.IMWRITE_JPEG_RST_INTERVAL, 3]])
@pytest.mark.parametrize("size", [(355, 200), (16, 900), (1000, 20), (1, 1)])
def test_the_same_pixels_are_shown(size: tuple[int, int], options: list[int]) -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (size[1], size[0], 3), np.uint8)
    data = bytes(cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, 50, *options])[1])
    uri = there(data_uri(with_extras(data)))
    kept = base64.b64decode(uri.partition(",")[2])
    assert jpeg_size(kept) == jpeg_size(data) == size
    before, after = (np.asarray(cv2.imdecode(np.frombuffer(one, np.uint8), cv2.IMREAD_COLOR)) for one in (data, kept))
    assert before.shape == (size[1], size[0], 3)
    assert np.array_equal(before, after)


def bomb(width: int, height: int) -> bytes:
    """A small file whose header claims many pixels."""
    data = bytearray(jpeg())
    place = data.index(b"\xff\xc0")
    data[place + 5 : place + 9] = struct.pack(">HH", height, width)
    return bytes(data)


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"GIF89a", b"\xff\xd8", b"\xff\xd8\xff\xd9", b"\xff\xd8\xff\xe0\x00\x00" * 9, jpeg()[:200], jpeg()[:-2]),
        jpeg()[:-2] + b"\xff\xdd\x00\x02",  # all pixels, and no end
        *(bomb(30000, 30000), bomb(0, 200), jpeg() + jpeg()[2:] * 9_000, b"<svg/>" + jpeg()),
    ],
    ids=range(12),
)
def test_a_picture_that_is_none_is_refused(data: bytes) -> None:
    assert data_uri(data) is None


@given(cut=st.integers(0, len(jpeg())), put=st.binary(max_size=9), gone=st.integers(0, 50))
def test_a_damaged_picture_never_breaks_the_page(cut: int, put: bytes, gone: int) -> None:
    whole = jpeg()
    uri = data_uri(whole[:cut] + put + whole[cut + gone :])
    assert uri is None or base64.b64decode(uri.partition(",")[2]).endswith(b"\xff\xd9")


@pytest.mark.parametrize(
    "character", ["\u202e", "\u2066", "\u200b", "\x00", "\x1b", "\x85", "\ud800", "\ufeff", "\U000e0041"]
)
def test_hidden_characters_are_shown(score: Score, character: str) -> None:
    assert visible(f"a{character}b") == f"a⟦U+{ord(character):04X}⟧b"
    case = make_case(clips=2)
    case.explain = lambda clip_id: (
        full_explanation(clip_id) | {"text": f"right{character}left, a text that is long enough"}
    )
    done = score(case)
    assert done.code == 0
    assert f"right⟦U+{ord(character):04X}⟧left" in done.page
    assert character not in done.page


def test_whatever_a_template_prints_is_escaped_and_has_no_hidden_characters() -> None:
    page = failure_page("Broke\u202e <down>", (), (("Worker", "y\u200bz"),), heading="a\x00b", band="c\u2066d")
    for shown in ("Broke⟦U+202E⟧ &lt;down&gt;", "y⟦U+200B⟧z", "a⟦U+0000⟧b", "c⟦U+2066⟧d"):
        assert shown in page
    assert not re.search("[\u202e\u200b\x00\u2066]|<down>", page)


def test_no_letter_towers_over_other_lines(score: Score) -> None:
    tower = "e" + "\u0301\u20dd" * 50
    assert visible(f"{tower}\u0301f\u0301") == "e" + "\u0301\u20dd" * 2 + "f\u0301"
    assert visible("e" + "\u0301\u200d" * 9).count("\u0301") == 4
    case = make_case(clips=2)
    case.explain = lambda clip_id: full_explanation(clip_id) | {"text": f"{tower}, a text that is long enough"}
    done = score(case)
    assert done.code == 0
    assert max(map(len, re.findall("[\u0301\u20dd]+", done.page))) == 4


@pytest.mark.parametrize("text", ["Zürich", "你好", "مرحبا", "👩‍👩‍👧", "e\u0301", "a\nb\tc", "שָׁ֑", "ཧྐྵྨླྺྼྻྂ"[:5]])
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert visible(text) == text


def test_a_log_line_cannot_be_forged() -> None:
    assert one_line('a\n{"type": "message"}\r\nb', 100) == 'a {"type": "message"} b'
    assert len(one_line("x" * 1000, 100)) == 101
