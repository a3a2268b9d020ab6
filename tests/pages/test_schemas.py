"""The JSON Schemas of settings follow from the models, and the committed settings follow them."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tests import ROOT

FILES = {
    "competition": ["competition.yaml"],
    "input_task": ["input_data/practice/task.yaml", "input_data/final/task.yaml"],
    "reference_task": ["reference_data/practice/task.yaml", "reference_data/final/task.yaml"],
    "criteria": ["bundle_tools/challenge/jury/criteria.yaml"],
}


@pytest.fixture(scope="module")
def schemas() -> dict[Path, str]:
    spec = importlib.util.spec_from_file_location("make_schemas", ROOT / "docs/schemas/make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made: dict[Path, str] = module.schemas()
    return made


def test_they_are_those_of_the_models(schemas: dict[Path, str]) -> None:
    stale = [path.name for path, text in schemas.items() if not path.is_file() or path.read_text("utf-8") != text]
    assert stale == [], "run docs/schemas/make.py"


@pytest.mark.parametrize(("name", "file"), [(name, file) for name, files in FILES.items() for file in files])
def test_committed_files_follow_them(schemas: dict[Path, str], name: str, file: str) -> None:
    schema = json.loads(schemas[ROOT / f"docs/schemas/{name}.schema.json"])
    content: Any = yaml.safe_load((ROOT / file).read_text("utf-8"))
    if name == "criteria":  # JSON has no keys that are numbers
        for criterion in content["criteria"]:
            criterion["anchors"] = {str(value): text for value, text in criterion["anchors"].items()}
    jsonschema.Draft202012Validator(schema).validate(content)
    assert not jsonschema.Draft202012Validator(schema).is_valid({**content, "unheard_of": 1})
