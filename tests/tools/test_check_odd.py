"""Random damage to a good bundle: always findings, never a traceback, never a long wait."""

import time
import zipfile
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bundle_tools.archive import zip_folder
from bundle_tools.bounded_yaml import LARGEST_BYTES, MOST_VALUES, YamlBombError, load_bounded
from bundle_tools.check import check

from .conftest import COMPETITION, FILES, write_files
from .foreign import MULTI_COMPETITION, VERSION1_COMPETITION

# Ten times what it takes: a busy machine is no failure.
LONGEST_S = 10.0
YAML_PIECES = [
    *"{}[]'\"#\t\n\0/\\~ü\ufeff\u2028",
    *("- ", ": ", "? ", "&a ", "*a", "<<: *a", "!!int ", "!!binary ", "!!set ", "!x ", "| ", ">-\n", "%YAML 1.2\n"),
    *("---\n", "...\n", "\n  ", "null", "true", "1e999", "0x", "1:2:3", "2030-01-01 00:00:00", ".nan", "-.inf"),
    *("../", "'0'", "[0, 1]", "9" * 200),
]
odd = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_files(tmp_path_factory.mktemp("odd") / "bundle", FILES)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("whole")
    zip_folder(write_files(folder / "bundle", FILES), folder / "bundle.zip")
    return (folder / "bundle.zip").read_bytes()


def checked(path: Path) -> None:
    started = time.perf_counter()
    for finding in check(path):
        assert finding.severity in {"error", "warning", "note"}
        assert finding.what and finding.effect and finding.fix and finding.where
        assert len("".join(finding.lines())) < 2000
    assert time.perf_counter() - started < LONGEST_S


@st.composite
def damaged(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from([COMPETITION, MULTI_COMPETITION, VERSION1_COMPETITION]))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 40)))
        new = draw(st.sampled_from(YAML_PIECES) | st.text(max_size=8) | st.just(text[start:end] * 2))
        text = text[:start] + new + text[end:]
    return text[: draw(st.just(len(text)) | st.integers(0, len(text)))]


@odd
@given(text=damaged())
def test_a_damaged_yaml_is_never_a_traceback(bundle: Path, text: str) -> None:
    (bundle / "competition.yaml").write_bytes(text.encode("utf-8", "surrogatepass"))
    checked(bundle)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.dates() | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | st.integers(), inner, max_size=3),
    max_leaves=5,
)


@odd
@given(data=st.data())
def test_any_value_in_any_place_is_never_a_traceback(bundle: Path, data: st.DataObject) -> None:
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


@odd
@given(content=st.binary(max_size=300))
def test_any_bytes_as_a_zip_are_never_a_traceback(bundle: Path, content: bytes) -> None:
    path = bundle.parent / "random.zip"
    for start in (b"", b"PK\x03\x04", b"PK\x05\x06"):
        path.write_bytes(start + content)
        checked(path)


@odd
@given(data=st.data())
def test_a_damaged_zip_is_never_a_traceback(bundle: Path, archive: bytes, data: st.DataObject) -> None:
    content = bytearray(archive)
    for _ in range(data.draw(st.integers(1, 5))):
        # Most of a zip's meaning lies in the directory at its end.
        at = data.draw(st.integers(0, len(content) - 1) | st.integers(len(content) - 700, len(content) - 1))
        content[at] = data.draw(st.integers(0, 255))
    path = bundle.parent / "damaged.zip"
    path.write_bytes(content[: data.draw(st.just(len(content)) | st.integers(0, len(content)))])
    checked(path)


NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=300)


@odd
@given(names=st.lists(NAMES | st.sampled_from([".", "..", "a/", "a", "a/b", "/", "//", "c:/x", "pages"]), max_size=4))
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_any_names_in_a_zip_are_never_a_traceback(bundle: Path, archive: bytes, names: list[str]) -> None:
    path = bundle.parent / "names.zip"
    path.write_bytes(archive)
    with zipfile.ZipFile(path, "a") as opened:
        for name in names:
            opened.writestr(zipfile.ZipInfo(name), b"x")
    checked(path)


@odd
@given(text=st.lists(st.sampled_from(YAML_PIECES) | st.text(max_size=6), max_size=12).map("".join))
def test_bounded_loading_agrees_with_yaml(text: str) -> None:
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
    "[" * LARGEST_BYTES,
    "{" * LARGEST_BYTES,
    "- " * (LARGEST_BYTES // 2),
    "? " * (LARGEST_BYTES // 2),
    "a: [" + "1," * (LARGEST_BYTES // 2 - 10) + "]",
    "\n".join(f"k{i}: 1" for i in range(9000)),
    "a: 1" + ":1" * 40_000,
    "a: " + "9" * 90_000,
    "a: 0x" + "f" * 90_000,
    "a: " + "x " * 45_000,
    "".join(f"- &a{i} x\n" for i in range(8000)),
    "a: &a [*a]",
    "a: &a {<<: *a}",
]


@pytest.mark.parametrize("text", DENSE, ids=range(len(DENSE)))
def test_the_densest_texts_are_read_soon(bundle: Path, text: str) -> None:
    (bundle / "competition.yaml").write_text(text[:LARGEST_BYTES])
    checked(bundle)
