"""The template of metadata, filled in for the drawn clips: its records can be read, and labels go with their files."""

import csv
import hashlib
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bundle_tools.synthetic.person import opaque_id
from tests import ROOT

DATA = ROOT / "public_data"
TEMPLATE = ROOT / "docs/templates/croissant.json"


def labels() -> list[dict[str, str]]:
    with (DATA / "labels.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """Pack the public data as the build does, and fill in the template beside them."""
    packed = tmp_path / "public_data.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sorted(path for path in DATA.rglob("*") if path.is_file()):
            archive.write(path, path.relative_to(DATA).as_posix())
    card = json.loads(TEMPLATE.read_text("utf-8"))
    card |= {"datePublished": "2030-01-15", "version": "1.0.0", "license": "https://example.org/licence"}
    content = packed.read_bytes()
    card["distribution"][0] |= {
        "contentUrl": packed.name,
        "sha256": hashlib.sha256(content).hexdigest(),
        "contentSize": f"{len(content)} B",
    }
    targets = list(labels()[0])[2:]
    (records,) = card["recordSet"]
    records["field"] = [
        json.loads(json.dumps(field).replace("TARGET", target))
        for field in records["field"]
        for target in (targets if field["name"] == "TARGET" else ("",))
    ]
    (tmp_path / "croissant.json").write_text(json.dumps(card), "utf-8")
    return tmp_path / "croissant.json"


def sources(field: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from (field[key] for key in ("source", "references") if key in field)


def test_the_template_follows_the_specification(filled: Path) -> None:
    card = json.loads(filled.read_text("utf-8"))
    assert card["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    named = {entry["@id"]: entry for entry in card["distribution"]}
    (records,) = card["recordSet"]
    fields = {field["@id"]: field for field in records["field"]}
    assert records["key"]["@id"] in fields
    used = [source for field in fields.values() for source in sources(field)]
    assert {(source.get("fileObject") or source["fileSet"])["@id"] for source in used} <= named.keys()
    # An unpacked folder of videos cannot be read, so all lies in the archive.
    assert [name for name, entry in named.items() if "containedIn" not in entry] == ["public_data.zip"]
    assert {source["extract"]["column"] for source in used if "column" in source["extract"]} == set(labels()[0])
    assert "version" in json.loads(TEMPLATE.read_text("utf-8"))


def test_ids_are_no_numbers_which_readers_would_shorten() -> None:
    """Libraries read 0001 as 1, 1e5 as a number, and NA as nothing."""
    for kind in "cs":
        for number in range(300):
            assert re.fullmatch(f"{kind}[0-9a-f]+", opaque_id(kind, 1, "set", "clip", str(number)))


def test_every_record_can_be_read_and_has_the_labels_of_its_file(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROISSANT_CACHE", str(filled.with_name("unpacked")))  # read when it is imported
    reason = "RECORDS NOT READ: `make setup WITH=croissant` installs mlcroissant"
    mlcroissant = pytest.importorskip("mlcroissant", reason=reason)
    records = list(mlcroissant.Dataset(jsonld=str(filled)).records("clips"))
    rows = {row["clip_id"]: row for row in labels()}
    assert len(records) == len(rows)
    for record in records:
        row = rows.pop(record["clips/clip_id"].decode())
        assert record["clips/source_id"].decode() == row["source_id"]
        assert record["clips/video"] == (DATA / "clips" / f"{row['clip_id']}.mp4").read_bytes()
        assert {name: record[f"clips/{name}"] for name in list(row)[2:]} == {
            name: float(value) for name, value in list(row.items())[2:]
        }
    assert rows == {}
