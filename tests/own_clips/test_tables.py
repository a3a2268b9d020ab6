"""Tables as people have them: what is read of each, or the words of the refusal."""

import io
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import Workbook

from bundle_tools import console
from bundle_tools.errors import BundleError
from bundle_tools.own_clips.dataset import LabelledSet, remarks_on_targets
from bundle_tools.own_clips.description import Description
from bundle_tools.own_clips.files import Problems
from bundle_tools.own_clips.folder import Sources, read_folder
from bundle_tools.own_clips.people import ASK, sound_of
from tests import ROOT

from .clips import make_zip

SCORES = (3.1, 2.5, 4.2, 1.9, 3.7, 2.8, 3.3, 4.6)
CLIPS = tuple(f"clip{number}.mp4" for number in range(1, 9))
PEOPLE = ("p1", "p1", "p2", "p2", "p3", "p3", "p4", "p4")
EXPECTED = {clip: (person, score) for clip, person, score in zip(CLIPS, PEOPLE, SCORES, strict=True)}
HEADER = ("clip", "person", "score")
Row = Sequence[Any]


def rows(people: Sequence[str] = PEOPLE, clips: Sequence[str] = CLIPS) -> list[Row]:
    return list(zip(clips, people, SCORES, strict=True))


def csv(table: Sequence[Row], *, separator: str = ",", comma: bool = False, end: str = "\n") -> str:
    cells = [
        [str(cell).replace(".", ",") if comma and isinstance(cell, float) else str(cell) for cell in row]
        for row in table
    ]
    return end.join(separator.join(row) for row in cells) + end


def workbook(*sheets: Sequence[Row]) -> bytes:
    book = Workbook()
    book.remove(book.active)
    for number, sheet in enumerate(sheets):
        target = book.create_sheet(f"Sheet {number}")
        for row in sheet:
            target.append([None if cell == "" else cell for cell in row])
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def read(
    folder: Path, table: str | bytes, clips: Sequence[str] = CLIPS, groups: str | None = None, look_alikes: str = ASK
) -> LabelledSet:
    (folder / "clips").mkdir(exist_ok=True)
    for name in clips:
        (folder / "clips" / name).write_bytes(name.encode())
    (folder / "labels").write_bytes(table if isinstance(table, bytes) else table.encode())
    if groups is not None:
        (folder / "groups").write_text(groups, "utf-8")
    given_groups = None if groups is None else folder / "groups"
    sources = Sources(folder / "clips", folder / "labels", given_groups, (1.0, 5.0), 0, look_alikes)
    return read_folder(sources, Description(), Problems())


def of(dataset: LabelledSet) -> dict[str, tuple[str, float]]:
    return {clip.name: (clip.source, *clip.labels) for clip in dataset.clips}  # type: ignore[misc]


def refused(folder: Path, table: str | bytes, groups: str | None = None, look_alikes: str = ASK) -> str:
    with pytest.raises(BundleError) as caught:
        read(folder, table, groups=groups, look_alikes=look_alikes)
    return str(caught.value)


def indexed(name: str, start: int = 0) -> list[Row]:
    return [(name, *HEADER), *((start + at, *row) for at, row in enumerate(rows()))]


READ: dict[str, str | bytes | Callable[[], bytes]] = {
    "plain": csv([HEADER, *rows()]),
    "UTF-8 with a mark": csv([HEADER, *rows()]).encode("utf-8-sig"),
    "UTF-16, as Excel's Unicode text": csv([HEADER, *rows()], separator="\t", end="\r\n").encode("utf-16"),
    "UTF-16, big end first": b"\xfe\xff" + csv([HEADER, *rows()], separator="\t").encode("utf-16-be"),
    "lines of old Macs": csv([HEADER, *rows()], end="\r"),
    "German Excel": csv([HEADER, *rows()], separator=";", comma=True, end="\r\n"),
    "a line for Excel": "sep=;\r\n" + csv([HEADER, *rows()], separator=";"),
    "a line for Excel, against the header": "SEP=|\n" + csv([("clip", "person", "score"), *rows()], separator="|"),
    "a separator in a quoted name": csv([("clip", "person", '"score, mean, of 1,2,3"'), *rows()], separator=";"),
    "index of pandas": csv(indexed("")),
    "index of pandas, read and written again": csv(indexed("Unnamed: 0")),
    "index of R": csv(indexed('""', 1)),
    "a comma at every end": csv([(*HEADER, ""), *((*row, "") for row in rows())]),
    "commas at some ends": csv([HEADER, *((*row, "", "") for row in rows()[:3]), *rows()[3:]]),
    "blanks nobody sees": csv(
        [("\u200bclip", "person\u00a0", " score"), *((f"{c}\u00a0", f" {p}", s) for c, p, s in rows())]
    ),
    "names without endings": csv([HEADER, *rows(clips=[clip[:-4] for clip in CLIPS])]),
    "capitals and folders": csv([HEADER, *rows(clips=[f"C:\\films\\{clip.upper()}" for clip in CLIPS])]),
    "workbook": lambda: workbook([HEADER, *rows()]),
    "workbook with an empty sheet and an index": lambda: workbook(indexed(""), []),
    "workbook with commas as text": lambda: workbook(
        [HEADER, *((c, p, str(s).replace(".", ",")) for c, p, s in rows())]
    ),
    "workbook with empty rows and columns": lambda: workbook(
        [(*HEADER, ""), *((*row, "") for row in rows()), ("", "")]
    ),
}


@pytest.mark.parametrize("name", READ)
def test_the_table_is_read_as_it_is_meant(tmp_path: Path, name: str) -> None:
    content = READ[name]
    assert of(read(tmp_path, content() if callable(content) else content)) == EXPECTED


REFUSED: dict[str, tuple[str | bytes | Callable[[], bytes], str]] = {
    "capitals": (
        csv([HEADER, *rows(["P1", "p1", *PEOPLE[2:]])]),
        "may be the same (1): P1 (1 row) and p1 (1 row). Correct",
    ),
    "zeros": (
        csv([HEADER, *rows(["001", "1", "2", "002", "3", "3", "4", "4"])]),
        "001 (1 row) and 1 (1 row); 2 (1 row) and 002",
    ),
    "decimals": (csv([HEADER, *rows(["1.0", "1", "2", "2", "3", "3", "4", "4"])]), "1.0 (1 row) and 1 (1 row)"),
    "blanks": (csv([HEADER, *rows(["Ann Lee", "AnnLee", *PEOPLE[2:]])]), "Ann Lee (1 row) and AnnLee (1 row)"),
    "accents": (csv([HEADER, *rows(["Zoë", "Zoe", *PEOPLE[2:]])]), "Zoë (1 row) and Zoe (1 row)"),
    "signs": (csv([HEADER, *rows(["p_1", "p-1", *PEOPLE[2:]])]), "p_1 (1 row) and p-1 (1 row)"),
    "nan": (csv([HEADER, *rows(["nan", "nan", "nan", *PEOPLE[3:]])]), "names that stand for nobody (1): nan (3 rows)"),
    "codes of something missing": (
        csv([HEADER, *rows(["-1", "-9", "-99.0", *PEOPLE[3:]])]),
        "names that stand for nobody (3)",
    ),
    "placeholders": (
        csv([HEADER, *rows(["unknown", "N/A", "-", "?", *PEOPLE[4:]])]),
        "(4): - (1 row); ? (1 row); N/A (1 row); unknown",
    ),
    "empty": (csv([HEADER, *rows(["", *PEOPLE[1:]])]), "clips without a source (1): line 2: clip1.mp4"),
    "Windows-1252": (
        csv([HEADER, *rows(["Zoë", *PEOPLE[1:]])]).encode("cp1252"),
        "not UTF-8 (1): labels (byte 30). Save them as CSV UTF-8",
    ),
    "UTF-16 without a mark": (csv([HEADER, *rows()]).encode("utf-16-le"), "not UTF-8"),
    "a nameless column": (
        csv([("", *HEADER), *(("x", *row) for row in rows())]),
        "columns without a name (1): labels: column 1 (x)",
    ),
    "an index with gaps": (csv(indexed("Unnamed: 0", 7)), "columns without a name (1): labels: column 1 (7)"),
    "a named index": (csv(indexed("index", 1)), "which would become targets (1): index. List them under ignore:"),
    "two columns of people": (
        csv([(*HEADER, "subject"), *((*row, 2) for row in rows())]),
        "become targets (1): subject",
    ),
    "a title above": (
        csv([("Ratings of May", "", ""), HEADER, *rows()]),
        "columns without a name (2): labels: column 2 (person)",
    ),
    "a cell too many": (
        csv([HEADER, *rows()[:-1], (*rows()[-1], 1)]),
        "more or fewer cells than the header (1): labels:9",
    ),
    "two rows of a clip": (
        csv([HEADER, *rows(), rows()[0]]),
        "several rows of labels (1): lines 2 and 10: clip1.mp4. Keep one",
    ),
    "long format": (
        csv([("clip", "person", "trait", "value"), *((c, p, t, s) for c, p, s in rows() for t in ("warm", "calm"))]),
        "Column trait tells them apart (calm, warm, ...). If it names raters, call it rater; if it names what was",
    ),
    "raters under another name": (
        csv([("clip", "person", "VP", "score"), *((c, p, r, s) for c, p, s in rows() for r in (1, 2, 3))]),
        "Column VP tells them apart (1, 2, 3, ...). If it names raters, call it rater",
    ),
    "one rater twice": (
        csv([(*HEADER, "rater"), *((*row, "r") for row in (*rows(), rows()[0]))]),
        "lines 2 and 10: clip1.mp4",
    ),
    "no rater": (
        csv([(*HEADER, "rater"), *((*row, "n/a") for row in rows()[:2]), *((*row, "r") for row in rows()[2:])]),
        "ratings without a rater (2): line 2",
    ),
    "raters who see different people": (
        csv([(*HEADER, "rater"), *((c, f"{p}{r}", s, r) for c, p, s in rows() for r in ("a", "b"))]),
        "clips whose rows name more than one source (8): line 2: clip1.mp4 (p1a, p1b)",
    ),
    "raters who hear different words": (
        csv([(*HEADER, "rater", "text"), *((*row, r, f"said {r}") for row in rows() for r in ("a", "b"))]),
        "clips whose rows name more than one transcript (8): line 2: clip1.mp4 (said a, said b)",
    ),
    "a word for a number": (csv([HEADER, *rows()]).replace("3.1", "high"), "not numbers (1): line 2, score: 'high'"),
    "nan for a number": (csv([HEADER, *rows()]).replace("3.1", "nan"), "not numbers (1): line 2, score: 'nan'"),
    "commas both as decimals and between cells": (
        csv([HEADER, *rows()], comma=True),
        "more or fewer cells than the header (8)",
    ),
    "thousands": (csv([HEADER, *rows()], separator=";").replace("3.1", "1.003,1"), "not numbers (1)"),
    "two filled sheets": (
        lambda: workbook([HEADER, *rows()], [("note",)]),
        "several filled sheets (1): labels (Sheet 0, Sheet 1). Keep one",
    ),
    "an Excel file of 2003, or with a password": (
        b"\xd0\xcf\x11\xe0" + bytes(600),
        "workbooks that cannot be read (1): labels",
    ),
    "a zip": (make_zip({"labels.csv": b"clip"}), "workbooks that cannot be read (1): labels"),
    "an empty workbook": (lambda: workbook([]), "empty tables (1): labels"),
    "a header alone, for Excel": ("sep=;\n", "empty tables (1): labels"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_clear_meaning_is_refused_in_words(tmp_path: Path, name: str) -> None:
    content, words = REFUSED[name]
    told = refused(tmp_path, content() if callable(content) else content)
    assert words in told
    # Where a column is missing, the table follows from it.
    assert told.count("\n  - ") == 1 or "header" in told or "first row" in told


def test_targets_that_say_nothing_or_number_their_raters_are_remarked_on(tmp_path: Path) -> None:
    items = csv([(*HEADER, "q1", "q2"), *((*row, 1 + at % 2, 1 + at % 3) for at, row in enumerate(rows()))])
    assert not [*remarks_on_targets(read(tmp_path, items))]
    table = csv([("clip", "person", "warm_r1", "warm_r2", "calm"), *((c, p, s, s, 3) for c, p, s in rows())])
    raters, same = sorted(remarks_on_targets(read(tmp_path, table)), key=len, reverse=True)
    assert raters.startswith("warm_r1, warm_r2 are targets of their own")
    assert same.startswith("calm is the same for all clips")


def test_look_alikes_are_joined_or_kept_as_the_organiser_says(tmp_path: Path) -> None:
    table = csv([HEADER, *rows(["P01", "p1", "P01", "p2", "unknown", "nan", "p3", "p3"])])
    assert "(1): P01 (2 rows) and p1" in refused(tmp_path, table)
    assert "names that stand for nobody (2)" in refused(tmp_path, table, look_alikes="join")
    kept = read(tmp_path, table, look_alikes="keep")
    assert {clip.source for clip in kept.clips} == {"P01", "p1", "p2", "unknown", "nan", "p3"}
    groups = "person,age\np1,young\n"
    joined = read(tmp_path, table.replace("unknown", "p4").replace("nan", "p4"), groups=groups, look_alikes="join")
    assert [clip.name for clip in joined.clips if clip.groups] == ["clip1.mp4", "clip2.mp4", "clip3.mp4"]
    assert [clip.source for clip in joined.clips] == ["P01", "P01", "P01", "p2", "p4", "p4", "p3", "p3"]


@pytest.mark.parametrize(("answer", "asked"), [(True, True), (False, True), (None, False)])
def test_a_terminal_is_asked_and_only_a_yes_joins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: bool | None, asked: bool
) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: asked)
    monkeypatch.setattr("builtins.input", lambda: "y" if answer else "")
    table = csv([HEADER, *rows(["P1", *PEOPLE[1:]])])
    if answer:
        assert {clip.source for clip in read(tmp_path, table).clips} == {"P1", "p2", "p3", "p4"}
    else:
        assert "people who may be the same (1)" in refused(tmp_path, table)


def test_nobody_is_asked_while_something_else_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "ask", lambda _: pytest.fail("asked"))
    monkeypatch.setattr("bundle_tools.own_clips.people.ask", lambda _: pytest.fail("asked"))
    told = refused(tmp_path, csv([HEADER, *rows(["P1", *PEOPLE[1:]])]).replace("3.1", "high"))
    assert "people who may be the same (1)" in told
    assert "labels that are not numbers (1)" in told


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=8), st.text("0123456789-_ .ab", max_size=8))
def test_a_name_sounds_like_its_own_spellings(one: str, other: str) -> None:
    for name in (one, other):
        assert sound_of(name.upper().casefold()) == sound_of(name.casefold())
        assert sound_of(f" {name} ") == sound_of(name)
        assert sound_of(unicodedata.normalize("NFD", name)) == sound_of(unicodedata.normalize("NFC", name))
    assert sound_of("1-11") != sound_of("11-1")
    assert sound_of("\u0930\u093e\u092e") != sound_of("\u0930\u092e\u093e")  # Ram and Rama
    assert sound_of("person 1") != sound_of("person 11")


@pytest.mark.parametrize("packed", ["folder", "archive that says it is UTF-8", "archive of macOS"])
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_names_of_files_match_in_any_form_of_unicode(tmp_path: Path, form: Literal["NFC", "NFD"], packed: str) -> None:
    clips = [unicodedata.normalize(form, f"Zoë {number}.mp4") for number in range(8)]
    there: Sequence[str] = clips
    if packed != "folder":
        archive = make_zip({name: name.encode() for name in clips})
        if packed == "archive of macOS":  # which leaves out the flag that says so
            archive = archive.replace(b"PK\1\2\x14\x03\x14\x00\x00\x08", b"PK\1\2\x14\x03\x14\x00\x00\x00")
        (tmp_path / "clips").mkdir()
        (tmp_path / "clips/all.zip").write_bytes(archive)
        there = ()
    other: Literal["NFC", "NFD"] = "NFD" if form == "NFC" else "NFC"
    people = [unicodedata.normalize(form if number % 2 else other, f"Chloé {number // 2}") for number in range(8)]
    table = csv([HEADER, *rows(people, [unicodedata.normalize(other, clip) for clip in clips])])
    groups = "person,town\n" + "".join(f"{unicodedata.normalize('NFD', f'Chloé {n}')},Köln\n" for n in range(4))
    dataset = read(tmp_path, table, there, groups)
    assert [clip.name for clip in dataset.clips] == [f"Zoë {number}.mp4" for number in range(8)]
    assert {clip.source for clip in dataset.clips} == {f"Chloé {number}" for number in range(4)}
    assert {clip.groups["town"] for clip in dataset.clips} == {"Köln"}


def test_groups_without_a_meaning_count_as_unknown_and_spellings_are_named(tmp_path: Path) -> None:
    groups = "person,age\np1,young\np2,n/a\np3,\n"
    found = read(tmp_path, csv([HEADER, *rows()]), groups=groups)
    assert {clip.source: dict(clip.groups) for clip in found.clips} == {
        "p1": {"age": "young"},
        "p2": {},
        "p3": {},
        "p4": {},
    }
    told = refused(tmp_path, csv([HEADER, *rows()]), groups="person,age\np1,Young\np2,young\np3,<30\np4,>30\n")
    assert "groups spelt in several ways (1): age: Young, young. Spell each group in one way." in told


def test_ratings_of_several_people_become_their_mean_and_agreement(tmp_path: Path) -> None:
    rated = [(c, p, s + step, r) for c, p, s in rows() for r, step in (("a", -0.3), ("b", 0.1), ("c", 0.2))]
    table = csv([(*HEADER, "Rater ID"), *rated[:-1], (*rated[-1][:2], "NA", "c")])
    dataset = read(tmp_path, table)
    assert [clip.labels[0] for clip in dataset.clips][:7] == pytest.approx(SCORES[:7])
    assert dataset.clips[7].labels[0] == pytest.approx(4.5)
    ratings = dataset.ratings
    assert ratings is not None
    assert (ratings.raters, ratings.each) == (3, "3")
    assert 0.8 < ratings.agreement["score"] < 1
    # Raters differ by a standard deviation of .265 (8 clips, 15 degrees of freedom); a mean of three by less.
    within = (7 * (0.3**2 + 0.1**2 + 0.2**2) + 2 * 0.2**2) / 15
    assert ratings.noise["score"] == pytest.approx((within * (7 / 3 + 1 / 2) / 8) ** 0.5, abs=1e-3)
    # A text that one rater's row lacks is no contradiction, and a text that is somebody's name stays.
    spoken = [(*row, "p1" if row[3] == "a" else "") for row in rated]
    heard = read(tmp_path, csv([(*HEADER, "rater", "transcript"), *spoken]), look_alikes="join")
    assert {clip.transcript for clip in heard.clips} == {"p1"}
    none = read(tmp_path, csv([HEADER, *rows()]))
    assert none.ratings is None


def test_without_a_terminal_the_command_refuses_and_names_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(BundleError):
        read(tmp_path, csv([HEADER, *rows(["P1", *PEOPLE[1:]])]))
    given_ = ["--clips", str(tmp_path / "clips"), "--labels", str(tmp_path / "labels"), "--range", "1", "5"]
    line = [
        sys.executable,
        "-m",
        "bundle_tools.cli.main",
        "data",
        "from-folder",
        *given_,
        "--out",
        str(tmp_path / "out"),
    ]
    done = subprocess.run(line, cwd=ROOT, input="y\n", capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "P1 (1 row) and p1 (1 row)" in done.stderr
    assert "--look-alikes join" in done.stderr
    assert not [*tmp_path.glob("out*")]
