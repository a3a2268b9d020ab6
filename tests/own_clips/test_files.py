"""Files in archives inside archives, and tables: all are read, and everything bad is named at once."""

import math
import zipfile
from base64 import b64decode
from collections.abc import Iterable
from pathlib import Path

import pytest

from bundle_tools.own_clips.files import FileLocation, Problems, read, scan
from bundle_tools.own_clips.table import Table, read_table

from .clips import make_zip

FILES = {"one.mp4": b"1" * 3000, "two.mp4": b"2" * 50_000, "-three.mp4": b"3"}
ENCRYPTED = (
    "UEsDBBQAAQAAAG2ed13sYk6GiQAAAH0AAAAJAAAAaW5uZXIuemlwf7fvED5Mj2TN6CqBe9wBeLHPL1YuPGS92fdO7uObNxj2mE96GHeGgbPMPN"
    "hjhdJqiT3hOYgvdj+Nu81qZa8Jqq8FbvpHCYq2xa6ZPEYvZuSIraINh7sRQeYcT66lRqDbXcosMCn4dkGsm38UNmgaPQQRcQDwh3x/D4BRV1qV"
    "9MTwKkzFvqqxHcpQSwECFAMUAAEAAABtnndd7GJOhokAAAB9AAAACQAAAAAAAAAAAAAAgAEAAAAAaW5uZXIuemlwUEsFBgAAAAABAAEANwAAAL"
    "AAAAAAAA=="
)
"""A zip with inner.zip, which holds labels.pkl, encrypted with `xyzzy` as ZipCrypto does; Python writes none."""


def found(root: Path, *passwords: bytes) -> tuple[dict[str, FileLocation], str]:
    problems = Problems()
    places = scan(root, passwords=passwords, problems=problems)
    return {place.name: place for place in places}, "\n".join(problems.lines())


def contents(places: Iterable[FileLocation]) -> dict[str, bytes | str]:
    return {place.name: content for place, content in read(places)}


@pytest.mark.parametrize("outer_stored", [True, False])
@pytest.mark.parametrize("inner_stored", [True, False])
def test_every_file_is_found_and_read_at_any_depth(tmp_path: Path, outer_stored: bool, inner_stored: bool) -> None:
    inner = make_zip({f"deep/{name}": content for name, content in FILES.items()}, stored=inner_stored)
    middle = make_zip({"a/inner.zip": inner, "__MACOSX/._inner.zip": b"junk", "note.txt": b"n"}, stored=outer_stored)
    (tmp_path / "outer.zip").write_bytes(make_zip({"middle.zip": middle}, stored=outer_stored))
    (tmp_path / "._outer.zip").write_bytes(b"junk")
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "four.mp4").write_bytes(b"4")
    places, problems = found(tmp_path)
    assert problems == ""
    assert set(places) == {*FILES, "note.txt", "four.mp4"}
    expected = {**FILES, "note.txt": b"n", "four.mp4": b"4"}
    # In any order: an archive is opened again where that is needed.
    for order in (sorted(places), sorted(places, reverse=True)):
        assert contents(places[name] for name in order) == expected
    assert str(places["one.mp4"]) == "outer.zip > middle.zip > a/inner.zip > deep/one.mp4"


def test_bad_archives_are_all_named_at_once(tmp_path: Path) -> None:
    whole = make_zip(FILES)
    (tmp_path / "cut.zip").write_bytes(whole[:-40])
    # Its last bytes are a whole archive: the first of the two that it held.
    twins = make_zip({"first.zip": whole, "second.zip": whole})
    (tmp_path / "cut-between.zip").write_bytes(twins[: twins.index(b"second.zip") - 30])
    (tmp_path / "longer.zip").write_bytes(whole + bytes(40))
    (tmp_path / "empty.zip").write_bytes(b"")
    (tmp_path / "holder.zip").write_bytes(make_zip({"inner-cut.zip": whole[: len(whole) // 2], "good.mp4": b"g"}))
    (tmp_path / "slip.zip").write_bytes(make_zip({"../../etc/passwd": b"x", "C:\\evil.mp4": b"y", "/abs": b"z"}))
    (tmp_path / "clips.rar").write_bytes(b"Rar!")
    nested = make_zip({"clip.mp4": b"c"})
    for _ in range(5):
        nested = make_zip({"again.zip": nested})
    (tmp_path / "deep.zip").write_bytes(nested)
    places, problems = found(tmp_path)
    for name in (
        "cut.zip",
        "longer.zip",
        "empty.zip",
        "inner-cut.zip",
        "slip.zip > ../../etc/passwd",
        "C:\\evil",
        "/abs",
        "clips.rar",
    ):
        assert name in problems
    assert "inside too many others (1): deep.zip" in problems
    assert set(places) == {"good.mp4"}


def test_a_member_whose_content_was_changed_is_told_when_it_is_read(tmp_path: Path) -> None:
    archive = bytearray(make_zip(FILES))
    archive[archive.index(b"2222") + 9] ^= 1
    (tmp_path / "a.zip").write_bytes(archive)
    places, problems = found(tmp_path)
    assert problems == ""
    read_so_far = contents(places.values())
    assert "CRC" in str(read_so_far.pop("two.mp4"))
    assert read_so_far == {name: content for name, content in FILES.items() if name != "two.mp4"}


def test_the_right_one_of_several_passwords_is_found_and_a_wrong_one_is_named(tmp_path: Path) -> None:
    (tmp_path / "val.zip").write_bytes(b64decode(ENCRYPTED))
    places, problems = found(tmp_path, b"wrong", b"xyzzy")
    assert problems == ""
    assert contents(places.values()) == {"labels.pkl": b"content"}
    assert "xyzzy" not in repr(places["labels.pkl"])
    for passwords, hint in ((), "--passwords"), ((b"wrong", b"other"), "None of the given passwords fits"):
        places, problems = found(tmp_path, *passwords)
        assert not places
        assert "encrypted archives (1): val.zip" in problems
        assert hint in problems


def test_aes_is_named_with_what_to_do(tmp_path: Path) -> None:
    archive = bytearray(make_zip({"a.mp4": b"a"}))
    central = archive.index(b"PK\1\2")
    archive[central + 8] |= 1
    archive[central + 10 : central + 12] = (99).to_bytes(2, "little")
    (tmp_path / "aes.zip").write_bytes(archive)
    _, problems = found(tmp_path, b"any")
    assert "AES" in problems
    assert "7z x" in problems


def test_archives_that_say_they_are_huge_are_refused_before_they_are_unpacked(tmp_path: Path) -> None:
    huge = bytearray(make_zip({"a.mp4": b"a"}))
    central = huge.index(b"PK\1\2")
    huge[central + 20 : central + 28] = (1 << 30).to_bytes(4, "little") + (1 << 31).to_bytes(4, "little")
    (tmp_path / "huge.zip").write_bytes(huge)
    # It claims more than it holds: what it says of itself is judged.
    bomb = make_zip({"inner.zip": bytes(654_321)}, stored=False)
    claim = bomb.replace((654_321).to_bytes(4, "little"), (200 << 20).to_bytes(4, "little"))
    (tmp_path / "bomb.zip").write_bytes(claim)
    places, problems = found(tmp_path)
    assert not places
    assert "more than 1 GB (1): huge.zip > a.mp4" in problems
    assert "unpack to far more than clips would (1): bomb.zip > inner.zip" in problems


def test_progress_counts_archives_in_archives_and_ends_at_the_end(tmp_path: Path) -> None:
    inner = make_zip({"a.mp4": b"a"})
    (tmp_path / "outer.zip").write_bytes(make_zip({"one.zip": inner, "two.zip": inner[:-30]}))
    (tmp_path / "plain.mp4").write_bytes(b"p")
    steps: list[tuple[int, int]] = []
    scan(tmp_path, problems=Problems(), progress=lambda done, total: steps.append((done, total)))
    assert [done for done, _ in steps] == [1, 2, 3, 4]
    assert steps[-1] == (4, 4)


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    (tmp_path / "gone.zip").symlink_to(tmp_path / "nowhere.zip")
    (tmp_path / "a.mp4").write_bytes(b"a")
    places, problems = found(tmp_path)
    assert set(places) == {"a.mp4"}
    assert problems == ""
    (tmp_path / "a.mp4").unlink()
    ((_, content),) = read(places.values())
    assert "FileNotFoundError" in str(content)


def test_members_are_read_in_the_order_in_which_they_lie(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name, content in FILES.items():
            archive.writestr(name, content)
        # The list at the end may be in any order; jumping back and forth is slow.
        archive.filelist.reverse()
    places, _ = found(tmp_path)
    assert sorted(places, key=lambda name: places[name].order) == list(FILES)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_any_separator_is_recognised(separator: str, mark: bytes, end: str) -> None:
    lines = [["clip", "warmth"], ["a.mp4", "0.5"], [], ["b.mp4", " 1 "]]
    problems = Problems()
    table = read_table(mark + end.join(separator.join(line) for line in lines).encode(), "t.csv", problems)
    assert not problems
    rows = ((2, {"clip": "a.mp4", "warmth": "0.5"}), (4, {"clip": "b.mp4", "warmth": "1"}))
    assert table == Table(("clip", "warmth"), rows, separator)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty tables"),
        (b"clip\xff\n", "not UTF-8 (1): t.csv (byte 4)"),
        (b"name,warmth\na,1\n", "columns clip missing; found name, warmth"),
        (b"clip,clip\na,1\n", "a column twice"),
        (b'clip,warmth\na,"1\n', "broken quotes"),
        (b"clip,warmth\na,1,2\nb,2\nc\n", "than the header (2): t.csv:2; t.csv:4"),
    ],
)
def test_every_problem_of_a_table_is_named(content: bytes, said: str) -> None:
    problems = Problems()
    read_table(content, "t.csv", problems, wanted=("clip",))
    assert said in "\n".join(problems.lines())


def test_numbers_have_points_or_commas_that_do_not_separate() -> None:
    with_commas, without = Table((), (), ","), Table((), (), ";")
    assert [with_commas.number("0.5"), without.number("0,5"), without.number("1e-2")] == [0.5, 0.5, 0.01]
    assert math.isnan(with_commas.number("0,5"))
    assert all(math.isnan(without.number(text)) for text in ("1_0", "inf", "", "1.000,5", "\u0663"))
