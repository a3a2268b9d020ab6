"""Files of others: a pipe, a device, a link, endless brackets or too many bytes are plain errors that name the file."""

import hashlib
import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from bundle_tools.challenge.compare.runs import RunFolder, find_runs
from bundle_tools.challenge.coopetition import read_teams, read_works
from bundle_tools.challenge.jury.criteria import read_key
from bundle_tools.challenge.landmarks import _table
from bundle_tools.errors import BundleError
from bundle_tools.evaluation import RESULT, EvaluationTask, result_of
from bundle_tools.untrusted import LARGEST, read_json

TOO_MANY = "too many bytes"
KINDS: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "an endless device": lambda path: path.symlink_to("/dev/zero"),
    "a link": lambda path: path.symlink_to("/etc/hostname"),
    "a link in a circle": lambda path: path.symlink_to(path.name),
    "a folder": Path.mkdir,
    "nothing": lambda path: None,
    "brackets": lambda path: path.write_text("[" * 100_000),
    "objects": lambda path: path.write_text('{"a":' * 100_000),
    "no UTF-8": lambda path: path.write_bytes(b'{"task": "\xff"}'),
    TOO_MANY: lambda path: [path.touch(), os.truncate(path, LARGEST + 1)],  # type: ignore[func-returns-value]
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_file_of_its_kind_is_named_at_once(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    KINDS[kind](path)
    with pytest.raises(BundleError, match=r"run\.json: expected " + (kind == TOO_MANY) * "at most"):
        read_json(path)
    with pytest.raises(BundleError, match=r"run\.json: expected |: expected the results of ingestion"):
        find_runs([tmp_path], tmp_path / "scratch")
    with pytest.raises(BundleError, match=r"run\.json: expected "):
        read_works([RunFolder("one", tmp_path, "practice")], {}, {})
    with pytest.raises(BundleError, match=r"run\.json: expected "):
        read_key(path)
    if kind not in ("brackets", "objects"):
        for read in (read_teams, partial(_table, columns=())):
            with pytest.raises(BundleError, match=r"run\.json: expected "):
                read(path)


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_that_cannot_be_read_is_none(kind: str, tmp_path: Path) -> None:
    KINDS[kind](tmp_path / RESULT)
    words = dict.fromkeys(("submission", "bundle", "phase", "key", "alive"), "x")
    assert result_of(EvaluationTask(**words, out=str(tmp_path), image=None, network=False, models=1)) is None


def test_a_payload_of_ratings_has_brackets_of_its_own(tmp_path: Path) -> None:
    from bundle_tools.challenge.jury import panel  # noqa: PLC0415 - its private reader is looked at

    payload, problems = "[" * 100_000, list[str]()
    digest = hashlib.sha256(payload.encode()).hexdigest()
    (tmp_path / "r.json").write_text(json.dumps({"payload": payload, "format_version": 1, "sha256": digest}))
    assert panel._file(tmp_path / "r.json", None, None, problems, partial=False) is None  # type: ignore[arg-type]
    assert "r.json: expected a file of ratings" in problems[0]
