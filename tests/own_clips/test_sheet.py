"""The private page with all clips: complete, small, and nowhere but in the private folder."""

import base64
import csv
import re
from pathlib import Path

import cv2
import numpy as np
import pytest

from bundle_tools.cli.main import main
from bundle_tools.own_clips.dataset import LabelledClip, LabelledSet
from bundle_tools.own_clips.files import FileLocation
from bundle_tools.own_clips.sheet import FILE, WIDTH, write_sheet
from bundle_tools.phase_data.settings import Challenge, Target

from .clips import make_clip, make_zip

LABELS = {"Ann <1>.mp4": 0.25, "Ann 2.mp4": 0.5, "Bob 1.mp4": 0.75, "Cem 1.mp4": 0.125, "Dot 1.mp4": 1.0}
CARD = re.compile(r"<figure>(.*?)</figure>", re.DOTALL)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sheet")
    clips = {name: make_clip(seed, seconds=2, sound=name != "Bob 1.mp4") for seed, name in enumerate(LABELS)}
    (folder / "clips").mkdir()
    (folder / "clips/all.zip").write_bytes(make_zip(clips))
    rows = "".join(f"{name},{name[:3]},{label}\n" for name, label in LABELS.items())
    (folder / "labels.csv").write_text(f"clip,person,warmth\n{rows}")
    given = ["--clips", str(folder / "clips"), "--labels", str(folder / "labels.csv"), "--out", str(folder / "out")]
    assert main(["data", "from-folder", *given, "--practice", "1", "--final", "1", "--seed", "4", "--data-only"]) == 0
    return folder / "out"


def test_every_clip_is_on_the_page_with_what_is_known_of_it(made: Path) -> None:
    page = (made / FILE).read_text("utf-8")
    cards = CARD.findall(page)
    assert len(cards) == len(LABELS)
    with (made / "private/clips.csv").open(newline="") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: (row["part"], row["source"], row["name"]))
    for row, card in zip(rows, cards, strict=True):
        name = row["name"].replace("<", "&lt;").replace(">", "&gt;")
        sound = "<strong>no sound</strong>" if row["name"] == "Bob 1.mp4" else "sound"
        for text in (name, row["source"], row["clip_id"], f"2.0 s, {sound}<br>", f"Warmth {LABELS[row['name']]:.2f}"):
            assert text in card
        picture = base64.b64decode(card.split("base64,")[1].split('"')[0])
        shown = cv2.imdecode(np.frombuffer(picture, np.uint8), cv2.IMREAD_COLOR)
        assert shown is not None
        assert shown.shape == (WIDTH * 90 // 160, WIDTH, 3)
        assert len(picture) < 10_000
    assert [heading.split(":")[0] for heading in re.findall("<h2>(.*?)</h2>", page)] == [
        "final",
        "practice",
        "training",
    ]
    # Self-contained: nothing is fetched, and nothing runs.
    assert not re.findall(r'(?:src|href)="(?!data:)', page)
    assert "<script" not in page


def test_nothing_of_it_lies_where_others_may_look(made: Path) -> None:
    assert [path.relative_to(made).as_posix() for path in made.rglob("*.html")] == [FILE]
    assert (made / "private").stat().st_mode & 0o077 == 0
    assert "private/" not in (made / "SHA256SUMS").read_text()
    for side in ("input_data", "reference_data", "public_data"):
        texts = [path.read_bytes() for path in (made / side).rglob("*") if path.is_file()]
        assert texts
        assert not any(b"data:image" in text or name.encode() in text for text in texts for name in LABELS)


def test_a_clip_that_cannot_be_decoded_is_shown_without_a_picture(tmp_path: Path) -> None:
    (tmp_path / "private").mkdir()
    (tmp_path / "broken.mp4").write_bytes(make_clip()[:900])
    header = "clip_id,part,file,duration_s,sound,name,source"
    (tmp_path / "private/clips.csv").write_text(f"{header}\nc1,final,broken.mp4,2.0,1,a.mp4,Ann\n")
    target = Target("warmth", "Warmth", 0, 1)
    clip = LabelledClip("a.mp4", "Ann", FileLocation(Path("a.mp4")), (0.5,))
    steps: list[tuple[int, int]] = []
    write_sheet(
        tmp_path,
        LabelledSet("x", Challenge(targets=(target,), main_target="warmth"), (clip,)),
        1,
        lambda *at: steps.append(at),
    )
    (card,) = CARD.findall((tmp_path / FILE).read_text())
    assert "<strong>cannot be decoded</strong>" in card
    assert "<img" not in card
    assert steps == [(1, 1)]
