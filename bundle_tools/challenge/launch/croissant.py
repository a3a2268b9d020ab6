"""Croissant metadata of the public data: https://docs.mlcommons.org/croissant/docs/croissant-spec-1.0.html."""

import csv
import hashlib
import io
import json
from collections.abc import Mapping
from typing import Any

from bundle_tools.challenge.launch.facts import Facts

NAME = "croissant.json"
CONFORMS_TO = "http://mlcommons.org/croissant/1.0"
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The terms of the specification, which every such file repeats."""
KEYS = ("name", "description", "license", "citeAs", "datePublished")
"""Description of the data as a whole."""
TEXTS = ("clip_id", "source_id")
"""Columns of labels.csv that are not targets."""


def describe(competition: Mapping[str, Any], facts: Facts) -> dict[str, str]:
    """Return the description of the public data, from competition.yaml and the organisers' answers."""
    cited = " ".join(part for part in (facts.cite_as, f"doi:{facts.doi}" if facts.doi else "") if part)
    return {
        "name": f"{competition.get('title')}: public data",
        "description": " ".join(str(competition.get("description") or "").split()),
        "license": facts.licence,
        "citeAs": cited,
        "datePublished": facts.published,
    }


def croissant(facts: Mapping[str, str], labels: bytes, others: Mapping[str, bytes]) -> str:
    """Describe a labelled folder: its files, and the columns of its table.

    `facts`: ``name`` and ``description``; ``license``, ``citeAs`` and ``datePublished`` if known.
    `labels`: content of ``labels.csv``: clip_id, source_id and one column for each target.
    `others`: content of other files beside it by name, such as ``transcripts.json``; clips are in ``clips/``.
    Returns a JSON file; the same folder gives the same text.
    """
    columns = next(csv.reader(io.StringIO(labels.decode("utf-8"))))
    files = [_file("labels.csv", labels, "text/csv")]
    files += [_file(name, content, "application/json") for name, content in sorted(others.items())]
    clips = {"@type": "cr:FileSet", "@id": "clips", "name": "clips", "encodingFormat": "video/mp4"}
    fields = [_field(name, "sc:Text" if name in TEXTS else "sc:Float") for name in columns]
    content = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        **{key: facts[key] for key in KEYS if facts.get(key)},
        "distribution": [*files, {**clips, "includes": "clips/*.mp4"}],
        "recordSet": [
            {"@type": "cr:RecordSet", "@id": "labels", "name": "labels", "key": {"@id": "labels/clip_id"},
             "field": fields},
        ],
    }  # fmt: skip
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _file(name: str, content: bytes, kind: str) -> dict[str, Any]:
    digest = hashlib.sha256(content).hexdigest()
    return {
        "@type": "cr:FileObject", "@id": name, "name": name, "contentUrl": name, "contentSize": f"{len(content)} B",
        "encodingFormat": kind, "sha256": digest,
    }  # fmt: skip


def _field(column: str, kind: str) -> dict[str, Any]:
    source = {"fileObject": {"@id": "labels.csv"}, "extract": {"column": column}}
    return {"@type": "cr:Field", "@id": f"labels/{column}", "name": column, "dataType": kind, "source": source}
