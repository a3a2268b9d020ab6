"""The rest of a bundle: what is copied from this checkout, and what is rendered from the settings."""

import json
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import jinja2

from bundle_tools.adapt.bundle.phases import PhaseFacts, phase_facts
from bundle_tools.adapt.dataset import Dataset, Part
from bundle_tools.adapt.folder.challenge import Asked, Challenge
from bundle_tools.adapt.settings import Rules
from bundle_tools.competition import load
from bundle_tools.errors import BundleError
from bundle_tools.figures.pages import fill_pages

CHECKOUT = Path(__file__).resolve().parents[3]
TEMPLATES = Path(__file__).with_name("templates")
PROGRAMS = ("ingestion_program", "scoring_program")
COPIED = (
    *("logo.png", "starting_kit/requirements.txt", "starting_kit/augmentations.md"),
    *("solutions/constant/model.py", "solutions/constant/README.md"),
)
SCRIPTS = "starting_kit/*.py"
LEFT_OUT = ("__pycache__", "*.pyc", "seal.key", "wheels")
PAGES = ("Overview", "Submission", "Environment", "Data", "Evaluation", "Responsible use")
STYLE = re.compile(r"^<style>.*</style>$", re.MULTILINE)
"""Lines for tables, on one page for all of them."""
HOW = {
    "cue_claims": "editing a cue out of the clip, as below",
    "faithfulness_space": "hiding one block of the picture after the other",
    "faithfulness_time": "freezing one second after the other",
    "known_causes": "what really made the label",
    "text": "reading: valid, true to the prediction and to the claims, about this clip",
}


@dataclass(frozen=True)
class Described:
    """What the texts of a bundle are made from."""

    challenge: Challenge
    """What the organiser says."""
    asked: tuple[Asked, ...]
    """The targets, with what high values mean."""
    dataset: Dataset
    """The labelled set."""
    parts: tuple[Part, ...]
    """Phases and public data."""
    has_sources: bool
    """Whether it is known which clips are of one person."""
    rules: Rules
    """Group, vocabulary, time limit."""
    start: datetime
    """When the first phase starts, UTC."""


def add_bundle(folder: Path, described: Described, constants: Mapping[str, float]) -> None:
    """Add everything that a bundle has beside its data.

    Parameters
    ----------
    folder
        Holds ``input_data/``, ``reference_data/`` and ``public_data/`` already.
    described
        What the texts say.
    constants
        Mean of every target over the training clips.
    """
    for program in PROGRAMS:
        ignore = shutil.ignore_patterns(*LEFT_OUT)
        shutil.copytree(CHECKOUT / program, folder / program, ignore=ignore, dirs_exist_ok=True)
    scripts = [path.relative_to(CHECKOUT).as_posix() for path in CHECKOUT.glob(SCRIPTS)]
    for name in (*COPIED, *scripts):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(CHECKOUT / name, folder / name)
    (folder / "solutions/constant/means.json").write_text(json.dumps(dict(constants), indent=1) + "\n", "utf-8")
    facts = _facts(folder, described, constants)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        # Markdown, YAML and Python made of the organiser's own words.
        autoescape=False,  # noqa: S701
    )
    environment.filters["cell"] = lambda text: str(text).replace("|", "\\|")
    # Not as in HTML, where the filter of this name also writes quotation marks as \u0027.
    environment.filters["tojson"] = lambda text: json.dumps(text, ensure_ascii=False)
    for name in environment.list_templates():
        path = folder / name.removesuffix(".j2")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(environment.get_template(name).render(facts), encoding="utf-8")
    fill_pages(folder)


def _facts(folder: Path, described: Described, constants: Mapping[str, float]) -> dict[str, Any]:
    columns, settings = _registry(folder)
    challenge, dataset, rules = described.challenge, described.dataset, described.rules
    titles = {column.key: column.title for column in columns}
    targets = [{**vars(one.target), "high": one.high} for one in described.asked]
    training = next(part for part in described.parts if not part.phase)
    return {
        "title": challenge.title,
        "style": next(iter(STYLE.findall((CHECKOUT / "pages/overview.md").read_text("utf-8"))), ""),
        "description": challenge.description or f"Predict {_listed(dataset)} from short clips, and explain why.",
        "image": load(CHECKOUT).docker_image,
        "pages": [{"title": title, "file": f"pages/{title.lower().replace(' ', '_')}.md"} for title in PAGES],
        "phases": phase_facts(described.parts, described.start),
        "training": PhaseFacts.of(training),
        "time_limit_s": rules.time_limit_s,
        "rank_by": rules.rank_by,
        "columns": columns,
        # What people pointed at is in the data, or nobody was asked; a jury always comes later.
        "hidden": {
            column.key
            for column in columns
            if column.of_people and (column.key != "plausibility" or settings.observations is None)
        },
        "targets": targets,
        "meanings": any(one.high for one in described.asked),
        "listed": _listed(dataset),
        "main": dataset.targets[dataset.main],
        "vocabulary": rules.vocabulary,
        "constants": constants,
        "attributes": dataset.attributes,
        "has_sources": described.has_sources,
        "axes": [
            {"key": key, "title": titles[key], "how": HOW[key]}
            for key in HOW
            if key != "known_causes" or settings.causes is not None
        ],
    }


def _listed(dataset: Dataset) -> str:
    return ", ".join(f"{one.title.lower()} ({one.minimum:g} to {one.maximum:g})" for one in dataset.targets)


def _registry(folder: Path) -> tuple[Sequence[Any], Any]:
    """Read the columns and the settings as the scoring program does."""
    program = str(CHECKOUT / "scoring_program")
    if program not in sys.path:
        sys.path.append(program)
    from score.columns import columns  # noqa: PLC0415 - the path is known only now
    from score.errors import ScoringError  # noqa: PLC0415
    from score.settings import read_settings  # noqa: PLC0415

    try:
        settings = read_settings(folder / "reference_data" / "practice" / "task.yaml")
    except ScoringError as error:
        lines = "".join(f"\n  - {problem.line()}" for problem in error.problems)
        raise BundleError(f"the scoring program would not accept these settings:{lines}") from error
    return columns(settings), settings
