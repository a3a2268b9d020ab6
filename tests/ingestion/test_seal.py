"""The key and the seal, from the side that writes them."""

import hashlib
import hmac
import shutil
from functools import partial
from pathlib import Path

import pytest

from ingest.errors import IngestionError
from ingest.keeper import read_key, remove_key
from ingest.record import seal
from tests.ingestion.conftest import PROGRAM, model_source, run_program

KEY = bytes(range(32))
SIGN = partial(hmac.digest, KEY, digest="sha256")


def test_the_key_is_taken_away(tmp_path: Path) -> None:
    assert read_key(tmp_path) is None
    (tmp_path / "seal.key").write_text(KEY.hex() + "\n")
    assert read_key(tmp_path) == KEY
    remove_key(tmp_path)
    remove_key(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["", "abc", "g" * 64, "0" * 63, "0" * 66, "\N{LATIN SMALL LETTER E WITH ACUTE}" * 64])
def test_a_damaged_key_is_the_organisers_fault(tmp_path: Path, text: str) -> None:
    (tmp_path / "seal.key").write_text(text)
    with pytest.raises(IngestionError) as caught:
        read_key(tmp_path)
    assert [(problem.code, problem.fault) for problem in caught.value.problems] == [("seal_key_broken", "organiser")]
    assert text not in str(caught.value) or not text


def test_the_seal_is_the_documented_hmac() -> None:
    manifest = {"format_version": 1, "files": {"b": {"sha256": "00", "bytes": 2}, "a": {"bytes": 1, "sha256": "11"}}}
    message = b'{"files":{"a":{"bytes":1,"sha256":"11"},"b":{"bytes":2,"sha256":"00"}},"format_version":1}'
    assert seal(manifest, SIGN) == hmac.new(KEY, message, hashlib.sha256).hexdigest()


def test_a_model_finds_no_key_and_the_manifest_is_sealed(phase: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    shutil.copytree(PROGRAM, program, ignore=shutil.ignore_patterns("__pycache__"))
    (program / "seal.key").write_text(KEY.hex())
    submission = tmp_path / "submission"
    submission.mkdir()
    looking = f"import pathlib; assert not list(pathlib.Path({str(program)!r}).glob('*.key'))"
    (submission / "model.py").write_text(model_source(predict=looking))
    outcome = run_program(phase, submission, tmp_path / "output", program=program)
    assert outcome.exit_code == 0, outcome.printed
    manifest = outcome.json("manifest.json")
    found = manifest.pop("seal")
    assert found == seal(manifest, SIGN)
    assert KEY.hex() not in outcome.printed
    assert not any(KEY.hex() in path.read_text("latin-1") for path in outcome.folder.rglob("*") if path.is_file())
