"""Random damage to a good bundle: always findings, never a traceback, never a long wait."""

import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from bundle_tools.challenge.check import check
from bundle_tools.codabench.archive import zip_folder
from bundle_tools.codabench.bounded_yaml import LARGEST_BYTES, MOST_VALUES, YamlBombError, load_bounded
from tests.codabench.foreign import MULTI_COMPETITION, VERSION1_COMPETITION
from tests.tiny import COMPETITION, FILES, write_files

# Processor seconds, far above what it takes on a busy machine: work that grows with the square takes longer still.
LONGEST_S = 60.0
YAML_PIECES = [
    *"{}[]'\"#\t\n\0/\\~ü\ufeff\u2028",
    *("- ", ": ", "? ", "&a ", "*a", "<<: *a", "!!int ", "!!binary ", "!!set ", "!x ", "| ", ">-\n", "%YAML 1.2\n"),
    *("---\n", "...\n", "\n  ", "null", "true", "1e999", "0x", "1:2:3", "2030-01-01 00:00:00", ".nan", "-.inf"),
    *("../", "'0'", "[0, 1]", "9" * 200),
]
EXAMPLES = 40
"""What is drawn by default: a whole check is dear."""


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_files(tmp_path_factory.mktemp("odd") / "bundle", FILES)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("whole")
    zip_folder(write_files(folder / "bundle", FILES), folder / "bundle.zip")
    return (folder / "bundle.zip").read_bytes()


def search(holds: Callable[..., None], **drawn: st.SearchStrategy[Any]) -> None:
    """Try some examples; as many as the profile says where that is more than usual."""
    told = settings().max_examples
    settings(max_examples=told if told > 100 else EXAMPLES)(given(**drawn)(holds))()


def checked(path: Path, longest_s: float = LONGEST_S) -> None:
    started = time.process_time()
    for finding in check(path):
        assert finding.severity in {"error", "warning", "note"}
        assert finding.what and finding.effect and finding.fix and finding.where
        assert len("".join(finding.lines())) < 2000
    assert time.process_time() - started < longest_s


@st.composite
def damaged(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from([COMPETITION, MULTI_COMPETITION, VERSION1_COMPETITION]))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 40)))
        new = draw(st.sampled_from(YAML_PIECES) | st.text(max_size=8) | st.just(text[start:end] * 2))
        text = text[:start] + new + text[end:]
    return text[: draw(st.just(len(text)) | st.integers(0, len(text)))]


def test_a_damaged_yaml_is_never_a_traceback(bundle: Path) -> None:
    def holds(text: str) -> None:
        (bundle / "competition.yaml").write_bytes(text.encode("utf-8", "surrogatepass"))
        checked(bundle)

    search(holds, text=damaged())


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.dates() | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | st.integers(), inner, max_size=3),
    max_leaves=5,
)


def test_any_value_in_any_place_is_never_a_traceback(bundle: Path) -> None:
    def holds(data: st.DataObject) -> None:
        content = yaml.safe_load(data.draw(st.sampled_from([COMPETITION, MULTI_COMPETITION, VERSION1_COMPETITION])))
        for _ in range(data.draw(st.integers(1, 3))):
            node = content
            while True:
                key = data.draw(st.sampled_from(list(node) if isinstance(node, dict) else list(range(len(node)))))
                if not isinstance(node[key], (dict, list)) or not node[key] or data.draw(st.integers(0, 3)) == 0:
                    break
                node = node[key]
            node[key] = data.draw(values)
        (bundle / "competition.yaml").write_text(yaml.safe_dump(content, allow_unicode=True), encoding="utf-8")
        checked(bundle)

    search(holds, data=st.data())


def test_any_bytes_as_a_zip_are_never_a_traceback(tmp_path: Path) -> None:
    def holds(content: bytes) -> None:
        for start in (b"", b"PK\x03\x04", b"PK\x05\x06"):
            (tmp_path / "random.zip").write_bytes(start + content)
            checked(tmp_path / "random.zip")

    search(holds, content=st.binary(max_size=300))


def test_a_damaged_zip_is_never_a_traceback(tmp_path: Path, archive: bytes) -> None:
    def holds(data: st.DataObject) -> None:
        content = bytearray(archive)
        for _ in range(data.draw(st.integers(1, 5))):
            # Most of a zip's meaning lies in the directory at its end.
            at = data.draw(st.integers(0, len(content) - 1) | st.integers(len(content) - 700, len(content) - 1))
            content[at] = data.draw(st.integers(0, 255))
        path = tmp_path / "damaged.zip"
        path.write_bytes(content[: data.draw(st.just(len(content)) | st.integers(0, len(content)))])
        checked(path)

    search(holds, data=st.data())


NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=300)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_any_names_in_a_zip_are_never_a_traceback(tmp_path: Path, archive: bytes) -> None:
    def holds(names: list[str]) -> None:
        path = tmp_path / "names.zip"
        path.write_bytes(archive)
        with zipfile.ZipFile(path, "a") as opened:
            for name in names:
                opened.writestr(zipfile.ZipInfo(name), b"x")
        checked(path)

    odd = st.sampled_from([".", "..", "a/", "a", "a/b", "/", "//", "c:/x", "pages"])
    search(holds, names=st.lists(NAMES | odd, max_size=4))


def test_bounded_loading_agrees_with_yaml() -> None:
    def holds(text: str) -> None:
        try:
            expected = yaml.safe_load(text)
        except Exception:  # noqa: BLE001 - whatever it is, ours is a ValueError
            with pytest.raises(ValueError):
                load_bounded(text)
            return
        try:
            assert repr(load_bounded(text)) == repr(expected)
        except YamlBombError:
            assert "9" * 100 in text or "*a" in text

    pieces = st.sampled_from(YAML_PIECES) | st.text(max_size=6)
    search(holds, text=st.lists(pieces, max_size=12).map("".join))


@pytest.mark.parametrize("count", [MOST_VALUES // 20, MOST_VALUES])
def test_values_are_counted_as_they_would_be_built(count: int) -> None:
    """A list of n values, named 20 times 10 times: 200 n values and some more, of which the text holds n."""
    ten = f"[{', '.join(['*a'] * 10)}]"
    text = f"a: &a [{', '.join('x' * (count // 200))}]\nb: [{', '.join([ten] * 20)}]"
    assert len(text) < LARGEST_BYTES
    if count < MOST_VALUES:
        assert len(load_bounded(text)["b"]) == 20
    else:
        with pytest.raises(YamlBombError, match="at most 200000 values"):
            load_bounded(text)


DENSE = [
    # As deep as Python goes, whatever the size: test_check.py has one, too.
    pytest.param(lambda size: "[" * size, marks=pytest.mark.slow),
    pytest.param(lambda size: "{" * size, marks=pytest.mark.slow),
    lambda size: "- " * (size // 2),
    lambda size: "? " * (size // 2),
    lambda size: "a: [" + "1," * (size // 2 - 10) + "]",
    lambda size: "\n".join(f"k{i}: 1" for i in range(size * 9 // 100)),
    lambda size: "a: 1" + ":1" * (size * 4 // 10),
    lambda size: "a: " + "9" * (size * 9 // 10),
    lambda size: "a: 0x" + "f" * (size * 9 // 10),
    lambda size: "a: " + "x " * (size * 45 // 100),
    lambda size: "".join(f"- &a{i} x\n" for i in range(size * 8 // 100)),
    lambda _: "a: &a [*a]",
    lambda _: "a: &a {<<: *a}",
]


@pytest.mark.parametrize("size", [LARGEST_BYTES // 5, pytest.param(LARGEST_BYTES // 2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("text", DENSE, ids=range(len(DENSE)))
def test_the_densest_texts_are_read_soon(bundle: Path, text: Callable[[int], str], size: int) -> None:
    (bundle / "competition.yaml").write_text(text(size)[:size])
    checked(bundle, LONGEST_S * size / LARGEST_BYTES)
