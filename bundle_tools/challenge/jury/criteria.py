"""The questions to jurors and the rules for their answers: `criteria.yaml`."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from bundle_tools.errors import BundleError

DEFAULT = Path(__file__).with_name("criteria.yaml")
FORMAT_VERSION = 2


@dataclass(frozen=True)
class Criterion:
    """One of the ratings."""

    name: str
    """Key in files."""
    title: str
    question: str
    weight: float
    """Weight in the mean, > 0; the sum is 1."""
    anchors: tuple[tuple[int, str], ...]
    """Meanings of some values, ascending."""


@dataclass(frozen=True)
class Rules:
    """How a jury works; the same for all sheets of one jury."""

    sha256: str
    """Hash of the file, fixed before the first sheet."""
    lowest: int
    """Lowest rating."""
    highest: int
    """Highest rating."""
    criteria: tuple[Criterion, ...]
    """In the order asked."""
    boilerplate: int
    """Items with a text that says nothing, >= 0."""
    repeats: float
    """Share of the genuine items that is asked twice, in [0, 1]."""
    boilerplate_texts: tuple[str, ...]
    """At least one."""
    largest_repeat_difference: float
    """Mean absolute difference between first and second ratings beyond which a juror is left out."""
    least_jurors: int
    """Fewest counting jurors for a result, >= 1."""
    resamples: int
    """Bootstrap resamples, >= 1."""
    level: float
    """Coverage of intervals, in (0, 1)."""
    seed: int


def read_rules(path: Path = DEFAULT) -> Rules:
    """Read the rules of a jury.

    Raises BundleError when the file cannot be used, with the wrong keys.
    """
    try:
        data = path.read_bytes()
        root: dict[str, Any] = yaml.safe_load(data)
        rules = Rules(
            sha256=hashlib.sha256(data).hexdigest(),
            lowest=int(root["scale"][0]),
            highest=int(root["scale"][1]),
            criteria=tuple(_criterion(entry) for entry in root["criteria"]),
            boilerplate=int(root["controls"]["boilerplate"]),
            repeats=float(root["controls"]["repeats"]),
            boilerplate_texts=tuple(str(text) for text in root["boilerplate_texts"]),
            largest_repeat_difference=float(root["exclusion"]["largest_repeat_difference"]),
            least_jurors=int(root["least_jurors"]),
            resamples=int(root["resamples"]),
            level=float(root["level"]),
            seed=int(root["seed"]),
        )
    except (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError, yaml.YAMLError) as error:
        raise BundleError(f"{path}: cannot be used ({type(error).__name__}: {error}). Start from {DEFAULT}.") from error
    wrong = _mistakes(rules, root)
    if wrong:
        raise BundleError(f"{path}: " + "; ".join(wrong) + ".")
    return rules


def _criterion(entry: dict[str, Any]) -> Criterion:
    return Criterion(
        name=str(entry["name"]),
        title=str(entry["title"]),
        question=str(entry["question"]),
        weight=float(entry["weight"]),
        anchors=tuple(sorted((int(value), str(text)) for value, text in entry["anchors"].items())),
    )


def _mistakes(rules: Rules, root: dict[str, Any]) -> list[str]:
    names, weights = [one.name for one in rules.criteria], [one.weight for one in rules.criteria]
    checks = (
        (root.get("format_version") == FORMAT_VERSION, f"format_version: expected {FORMAT_VERSION}"),
        (0 <= rules.lowest < rules.highest <= 9, "scale: expected two digits, ascending"),
        (len(set(names)) == len(names) > 0, "criteria: expected at least one, and each name once"),
        (abs(sum(weights) - 1) < 1e-9, "criteria: expected weights that sum to 1"),
        (min(weights, default=1) > 0, "criteria: expected weights above 0"),
        (rules.boilerplate >= 0 <= rules.repeats <= 1, "controls: expected a count, and a share"),
        (bool(rules.boilerplate_texts), "boilerplate_texts: expected at least one"),
        (rules.least_jurors >= 1, "least_jurors: expected at least 1"),
        (rules.resamples >= 1 and 0 < rules.level < 1, "resamples, level: expected at least 1, and a share"),
    )
    return [text for holds, text in checks if not holds]
