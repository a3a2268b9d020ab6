"""With a key, only results that carry its seal are believed."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import score.pipeline
from ingest.record.seal import seal
from score.errors import OrganiserError
from score.read.manifest import is_sealed, read_key
from tests.scoring.conftest import Score
from tests.scoring.factory import make_case

KEY = bytes(range(32))
OTHER = bytes(32)


@pytest.fixture
def keyed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "program"
    program.mkdir()
    (program / "seal.key").write_text(KEY.hex() + "\n")
    monkeypatch.setattr(score.pipeline, "PROGRAM", program)
    return program


def sign(key: bytes, change: Callable[[dict[str, Any]], object] = lambda manifest: None) -> Callable[[Path], None]:
    """Seal the manifest as ingestion does, then change it."""

    def spoil(root: Path) -> None:
        path = root / "res" / "manifest.json"
        manifest = json.loads(path.read_text())
        del manifest["seal"]
        manifest["seal"] = seal(manifest, key)
        change(manifest)
        path.write_text(json.dumps(manifest))

    return spoil


def test_what_ingestion_seals_scoring_believes(keyed: Path, score: Score) -> None:
    done = score(make_case(), sign(KEY))
    assert done.code == 0
    assert "unsealed" not in done.page
    assert "sealed" in done.page
    assert KEY.hex() not in done.page + done.log


@pytest.mark.parametrize(
    "spoil",
    [
        lambda root: None,
        sign(OTHER),
        sign(KEY, lambda manifest: manifest.update(seal=None)),
        sign(KEY, lambda manifest: manifest.update(seal=3)),
        sign(KEY, lambda manifest: manifest.update(seal="\ud800")),
        sign(KEY, lambda manifest: manifest["files"].pop("log.txt")),
        sign(KEY, lambda manifest: manifest["files"]["predictions.csv"].update(bytes=1)),
        sign(KEY, lambda manifest: manifest.update(format_version=1)),
    ],
    ids=["no seal", "another key", "null", "a number", "a surrogate", "a file less", "another size", "a version"],
)
def test_anything_else_is_not_scored(keyed: Path, score: Score, spoil: Callable[[Path], object]) -> None:
    done = score(make_case(), spoil)
    assert done.code == 1
    assert "results_unsealed" in done.log
    assert "results_unsealed" in done.page
    assert not (done.out / "scores.json").exists()


def test_without_a_key_results_are_scored_and_called_unsealed(score: Score) -> None:
    assert "unsealed" in score(make_case()).page
    assert score(make_case(), sign(OTHER)).code == 0


def test_a_damaged_key_is_the_organisers_fault(keyed: Path, score: Score) -> None:
    (keyed / "seal.key").write_text("no key")
    done = score(make_case(), sign(KEY))
    assert (done.code, "seal_key_broken" in done.log) == (2, True)
    with pytest.raises(OrganiserError):
        read_key(keyed)


def test_the_order_of_keys_does_not_matter() -> None:
    manifest = {"format_version": 1, "files": {"a": {"bytes": 1, "sha256": "00"}}}
    shuffled = {"seal": seal(manifest, KEY), "files": manifest["files"], "format_version": 1}
    assert is_sealed(shuffled, KEY)
    assert not is_sealed(shuffled, OTHER)


def recorded(**files: bytes) -> dict[str, Any]:
    lines = [f"{hashlib.sha256(content).hexdigest()[:16]} {name}.py" for name, content in files.items()]
    return {"submission_files": lines}


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("model.py", b"own", 0),
        ("copies/model.py", b"own", 0),
        ("notes.txt", b"nobody recorded such a name", 0),
        ("model.py", b"another", 1),
        ("copies/model.py", b"another", 1),
        ("helper.py", b"own", 1),
    ],
)
def test_a_sealed_record_does_not_fit_another_submission(
    keyed: Path, score: Score, name: str, content: bytes, code: int
) -> None:
    """Newer servers lay the submission beside the results: a zip with somebody's record and a model of its own."""
    case = make_case()
    case.run = recorded(model=b"own", helper=b"helps")

    def beside(root: Path) -> None:
        sign(KEY)(root)
        (root / "res" / name).parent.mkdir(exist_ok=True)
        (root / "res" / name).write_bytes(content)

    done = score(case, beside)
    assert done.code == code, done.log
    assert ("record_of_another" in done.log) == bool(code)
