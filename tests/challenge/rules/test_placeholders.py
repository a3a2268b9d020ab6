"""Files that only stand for others are named for what they are, by every tool that meets one."""

import hashlib
import shutil
from pathlib import Path

import pytest

from bundle_tools.challenge.rules.placeholders import check_placeholders
from bundle_tools.errors import BundleError
from bundle_tools.own_clips.description import Description
from bundle_tools.own_clips.files import Problems
from bundle_tools.own_clips.folder import Sources, read_folder
from bundle_tools.untrusted import START, placeholder
from ingest.data import check_file
from ingest.data import placeholder as placeholder_of
from tests.own_clips.clips import make_clip, make_zip
from tests.tiny import draft_of, swap

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22e\nsize 123456\n"
PAGE = b"\xef\xbb\xbf  <!DOCTYPE HTML>\n<title>Google Drive - Virus scan warning</title>"
FILES = {
    "clip.mp4": (POINTER, "a Git LFS pointer"),
    "words.txt": (POINTER, "a Git LFS pointer"),
    "page.mp4": (PAGE, "a web page"),
    "page.npz": (b"<html>", "a web page"),
    "empty.mp4": (b"", "a file without content"),
    "zeros.mp4": (bytes(5000), "a file without content"),
    ".clip.mp4.icloud": (b"bplist00\xd1", "a placeholder of iCloud"),
    "page.html": (PAGE, None),
    "README.md": (b"<html>", None),
    "__init__.py": (b"", None),
    ".gitkeep": (b"", None),
    "late.bin": (bytes(START - 1) + b"1", None),
    "real.mp4": (make_clip(), None),
}


@pytest.mark.parametrize("name", FILES)
def test_tools_and_programs_call_a_file_by_the_same_name(tmp_path: Path, name: str) -> None:
    content, expected = FILES[name]
    (tmp_path / name).write_bytes(content)
    ours = placeholder(f"some/folder/{name}", content[:START])
    assert ours == placeholder_of(tmp_path / name)
    assert (ours and ours[0]) == expected


def test_clips_that_stand_for_others_are_named_before_anything_is_made(tmp_path: Path) -> None:
    clips = tmp_path / "clips"
    clips.mkdir()
    packed = {"b.mp4": POINTER, "c.mp4": PAGE, "d.mp4": make_clip()}
    (clips / "packed.zip").write_bytes(make_zip(packed, stored=False))
    for name, content in {"a.mp4": POINTER, "e.mp4": b"", ".f.mp4.icloud": b"bplist00"}.items():
        (clips / name).write_bytes(content)
    labels = tmp_path / "labels.csv"
    labels.write_text("clip,score\n" + "".join(f"{name},0.5\n" for name in "abcde"))
    with pytest.raises(BundleError) as caught:
        read_folder(Sources(clips, labels), Description(), Problems())
    for said in (
        "stand for others: a Git LFS pointer (2): a.mp4; packed.zip > b.mp4. Run `git lfs pull`.",
        "stand for others: a web page (1): packed.zip > c.mp4. Get the file itself",
        "stand for others: a file without content (1): e.mp4. Copy it again",
        "stand for others: a placeholder of iCloud (1): .f.mp4.icloud. Download it",
    ):
        assert said in str(caught.value)
    labels.write_bytes(POINTER)
    with pytest.raises(
        BundleError, match=r"labels\.csv: expected a table, found a Git LFS pointer\. Run `git lfs pull`"
    ):
        read_folder(Sources(clips, labels), Description(), Problems())


def test_ingestion_names_a_clip_whose_file_was_never_fetched(tmp_path: Path) -> None:
    wanted = hashlib.sha256(make_clip()).hexdigest()
    for name, (content, what) in FILES.items():
        (tmp_path / name).write_bytes(content)
        problems: list[object] = []
        good = check_file(tmp_path, name, wanted, "clips.csv line 2", problems)  # type: ignore[arg-type]
        assert good == (name == "real.mp4")
        assert [problem.code for problem in problems] == ["clip_changed"] * (not good)  # type: ignore[attr-defined]
        assert what is None or what in str(problems[0])


def test_the_check_finds_them_among_data_kit_and_solutions(tiny: Path) -> None:
    assert list(check_placeholders(draft_of(tiny))) == []
    (tiny / "input_data/practice/clip.mp4").write_bytes(PAGE)
    solution = tiny / "solutions/half"
    for name in ("weights.npz", "other.npz"):
        (solution / name).write_bytes(POINTER)
    in_solution = ("file-placeholder", "other.npz and 1 more: a Git LFS pointer.", "Run `git lfs pull`.")
    found = list(check_placeholders(draft_of(tiny)))
    assert [finding.where for finding in found] == ["input_data/practice/", "solutions/half/"]
    assert (found[1].code, found[1].what, found[1].fix) == in_solution
    # A zip is looked into, too.
    shutil.make_archive(str(solution), "zip", solution)
    shutil.rmtree(solution)
    swap(tiny / "competition.yaml", "solutions/half/", "solutions/half.zip")
    assert [(one.code, one.what, one.fix) for one in check_placeholders(draft_of(tiny))][1:] == [in_solution]
