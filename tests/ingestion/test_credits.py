"""`credits.yaml`: what is right is recorded, what is wrong is named and costs nothing."""

from pathlib import Path

import pytest

from ingest.submission import LARGEST_FILE, Credit, read_credits

GOOD = """\
format_version: 1
credits:
  - submission: "3f9a1c0b22d1"
    used: its face tracker (face.py)
  - {repository: "https://code.example/owner/name", used: the whole audio part}
"""


def write(folder: Path, text: str | bytes) -> Path:
    (folder / "credits.yaml").write_bytes(text.encode() if isinstance(text, str) else text)
    return folder


def test_good_credits_are_read(tmp_path: Path) -> None:
    assert read_credits(write(tmp_path, GOOD)) == (
        (
            Credit("3f9a1c0b22d1", None, "its face tracker (face.py)"),
            Credit(None, "https://code.example/owner/name", "the whole audio part"),
        ),
        [],
    )


def test_digits_without_quotation_marks_are_digits(tmp_path: Path) -> None:
    text = "format_version: 1\ncredits:\n  - {submission: 00123456, used: 0x10}\n"
    assert read_credits(write(tmp_path, text)) == ((Credit("00123456", None, "0x10"),), [])


def test_no_file_and_a_link_are_no_credits(tmp_path: Path) -> None:
    assert read_credits(tmp_path) == ((), [])
    write(tmp_path, GOOD)
    other = tmp_path / "other"
    other.mkdir()
    (other / "credits.yaml").symlink_to(tmp_path / "credits.yaml")
    assert read_credits(other) == ((), [])


def entry(text: str) -> str:
    return f'format_version: 1\ncredits:\n  - {text}\n  - {{submission: "abcdef01", used: good}}\n'


BROKEN: dict[str, tuple[str | bytes, str, int]] = {
    "no YAML": ("format_version: [", "line", 0),
    "binary": (b"\x00\xff\xfe", "credits.yaml", 0),
    "references": ("format_version: 1\na: &a [x]\ncredits: [*a, *a]\n", "credits.yaml", 0),
    "an object": ("!!python/object/apply:os.system ['true']", "credits.yaml", 0),
    "deep": ("[\n" * 5000, "credits.yaml", 0),
    "large": ("#" * (LARGEST_FILE + 1), "bytes", 0),
    "a list": ("- a\n", "format_version", 0),
    "version": ("format_version: 2\ncredits: []\n", "format_version", 0),
    "no list": ("format_version: 1\ncredits: me\n", "no list", 0),
    "many": (
        "format_version: 1\ncredits:\n" + "".join(f'  - {{submission: "{n:08x}", used: x}}\n' for n in range(25)),
        "25 entries",
        20,
    ),
    "no mapping": (entry("hello"), "entry 1", 1),
    "other keys": (entry('{submission: "abcdef02", used: x, why: y}'), "entry 1", 1),
    "both": (entry('{submission: "abcdef02", repository: "https://a.example/b", used: x}'), "both or neither", 1),
    "neither": (entry("{used: x}"), "both or neither", 1),
    "a time": ('format_version: 1\ncredits: !!timestamp "x"\n', "no list", 0),
    "a tagged number": ('a: !!int ""\nb: !!float ""\nc: !!bool "x"\nformat_version: 2\n', "format_version", 0),
    "no character": ('format_version: 1\ncredits: []\nused: "\\UFFFFFFFF"\n', "unreadable YAML", 0),
    "short": (entry('{submission: "abc", used: x}'), "submission", 1),
    "plain http": (entry('{repository: "http://a.example/b", used: x}'), "repository", 1),
    "script": (entry('{repository: "javascript:alert(1)", used: x}'), "repository", 1),
    "with a query": (entry('{repository: "https://a.example/?<script>", used: x}'), "repository", 1),
    "unsaid": (entry('{submission: "abcdef02"}'), "used", 1),
    "long": (entry('{submission: "abcdef02", used: ' + "x" * 201 + "}"), "used", 1),
    "two lines": (entry('{submission: "abcdef02", used: "a\\nb"}'), "used", 1),
    "hidden signs": (entry('{submission: "abcdef02", used: "a\\u202eb"}'), "used", 1),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_wrong_is_named_and_the_rest_counts(name: str, tmp_path: Path) -> None:
    text, words, kept = BROKEN[name]
    credits, problems = read_credits(write(tmp_path, text))
    assert len(credits) == kept
    assert {(problem.code, problem.severity) for problem in problems} == {("credits_broken", "warning")}
    assert words in " ".join(f"{problem.where} {problem.found}" for problem in problems)
