"""The example submissions, loaded as the runner loads them."""

import importlib
import importlib.util
import sys
from types import ModuleType
from typing import Any, Protocol

import pytest

from tests import ROOT, there

SOLUTIONS = ROOT / "solutions"
CUE_READER = SOLUTIONS / "cue_reader"
# Imported once and known from then on: a path that stayed would make other tests find a `model` installed.
sys.path.insert(0, str(CUE_READER))
importlib.import_module("cuereader")
sys.path.remove(str(CUE_READER))


class Solution(Protocol):
    """What a participant's class looks like from outside."""

    additive: Any

    def predict(self, clip: object) -> dict[str, float]:
        """Return the scores."""

    def explain(self, clip: object, prediction: dict[str, float]) -> dict[str, Any]:
        """Return the explanation."""


def load(folder: str, name: str) -> ModuleType:
    """Return a module of a solution under a name of its own, since both have a `model`."""
    path = SOLUTIONS / folder / f"{name}.py"
    found = there(importlib.util.spec_from_file_location(f"solution_{folder}_{name}", path))
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def reader() -> Solution:
    """Return the cue reader, ready to predict."""
    model: Solution = load("cue_reader", "model").Model(CUE_READER)
    return model


@pytest.fixture(scope="session")
def constant() -> Solution:
    """Return the constant baseline."""
    model: Solution = load("constant", "model").Model(SOLUTIONS / "constant")
    return model
