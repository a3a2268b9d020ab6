"""The rest of a bundle: files copied from this checkout, and files rendered from the settings."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from bundle_tools.challenge.pages.write import write_pages
from bundle_tools.codabench.competition import load
from bundle_tools.codabench.trust import KIT, remember
from bundle_tools.errors import BundleError
from bundle_tools.own_clips.dataset import LabelledSet, Split
from bundle_tools.own_clips.writing import SetOptions
from bundle_tools.phase_data.files import templates_in
from score.columns import columns
from score.errors import ScoringError
from score.settings import read_settings

CHECKOUT = Path(__file__).resolve().parents[3]
TEMPLATES = Path(__file__).with_name("templates")
SOLUTION, SAMPLE = "solutions/linear", "starting_kit/sample_output"
EXAMPLE = Path(__file__).with_name("solution")
"""A solution that can be trained on any footage."""
PROGRAMS = ("ingestion_program", "scoring_program")
COPIED = (
    *("logo.png", "starting_kit/requirements.txt"),
    *("solutions/constant/model.py", "solutions/constant/README.md", "docs/error_codes.md"),
)
LANGUAGE, GUIDE = "docs/language.md", "docs/participant.md"
ANYWHERE = ("## Read the report\n", "## Before Final\n")
"""First lines of the guide's sections that apply to any challenge."""
FOREIGN_EXAMPLES = (
    "> The examples are those of a challenge with the targets *interview* and *openness*; the rules hold for yours.\n"
)
SAMPLE_CLIPS = 3
SCRIPTS = "starting_kit/*.py"
LEFT_OUT = ("__pycache__", "*.pyc", "seal.key", "wheels")
OPEN_LASTS, CLOSED_LASTS = timedelta(days=89), timedelta(days=14)
GAP = timedelta(days=1)
"""Gap between phases: on Codabench one must start after the previous one ends, and version 1 allows no other gap."""


def add_bundle(
    folder: Path,
    dataset: LabelledSet,
    parts: Sequence[Split],
    options: SetOptions,
    start: datetime,
    constants: Mapping[str, float],
    workers: int,
) -> None:
    """Add everything in a bundle except its data.

    `folder`: holds ``input_data/``, ``reference_data/`` and ``public_data/`` already. `start`: when the first phase
    starts, UTC.
    """
    for program in PROGRAMS:
        ignore = shutil.ignore_patterns(*LEFT_OUT)
        shutil.copytree(CHECKOUT / program, folder / program, ignore=ignore, dirs_exist_ok=True)
    scripts = [path.relative_to(CHECKOUT).as_posix() for path in CHECKOUT.glob(SCRIPTS)]
    for name in (*COPIED, *scripts):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(CHECKOUT / name, folder / name)
    (folder / "solutions/constant/means.json").write_text(json.dumps(dict(constants), indent=1) + "\n", "utf-8")
    facts = _facts(folder, dataset, parts, start) | {"constants": constants, "time_limit_s": options.time_limit_s}
    texts = templates_in(TEMPLATES)
    for name in texts.list_templates():
        path = folder / name.removesuffix(".j2")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(texts.get_template(name).render(facts), encoding="utf-8")
    title, _, rest = (CHECKOUT / LANGUAGE).read_text("utf-8").partition("\n\n")
    (folder / LANGUAGE).write_text(f"{title}\n\n{FOREIGN_EXAMPLES}\n{rest}", encoding="utf-8")
    sections = re.split("^(?=## )", (CHECKOUT / GUIDE).read_text("utf-8"), flags=re.MULTILINE)
    kept = "".join(section for section in sections if section.startswith(ANYWHERE))
    (folder / GUIDE).write_text(f"# Participant's guide\n\n{kept}", encoding="utf-8")
    _train_example(folder, workers)
    _add_sample(folder)
    write_pages(folder)
    remember([(kind, folder / kind) for kind in (*PROGRAMS, KIT)])


def _train_example(folder: Path, workers: int) -> None:
    """Add the example solution, with weights from the public clips; it prints how well it predicts."""
    shutil.copytree(EXAMPLE, folder / SOLUTION, ignore=shutil.ignore_patterns(*LEFT_OUT))
    arguments = ("--data", folder / "public_data", "--workers", workers)
    if _run(folder / SOLUTION / "train.py", *arguments, cwd=folder).returncode:
        raise BundleError(f"{folder / SOLUTION}: the example could not be trained on these clips, as shown above.")


def _add_sample(folder: Path) -> None:
    """Add the records of a run of the example, which also shows that programs, data and kit work together."""
    with tempfile.TemporaryDirectory(prefix="bundle-sample-") as scratch:
        arguments = ("run", folder / SOLUTION, "--clips", SAMPLE_CLIPS, "--name", "sample")
        done = _run(folder / "starting_kit" / "kit.py", *arguments, cwd=Path(scratch), capture_output=True, text=True)
        records = Path(scratch, "runs", "sample", "input", "res")
        if done.returncode or not (records / "explanations.jsonl").is_file():
            output = f"{done.stdout}{done.stderr}"[-2000:]
            raise BundleError(f"{folder / SOLUTION}: the example does not run on the practice clips:\n{output}")
        (folder / SAMPLE).mkdir()
        for name in ("predictions.csv", "explanations.jsonl"):
            shutil.copyfile(records / name, folder / SAMPLE / name)


def _run(script: Path, *arguments: object, **options: Any) -> "subprocess.CompletedProcess[str]":  # noqa: ANN401
    line = [sys.executable, str(script), *map(str, arguments)]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}  # the bundle must not contain compiled files
    return subprocess.run(line, check=False, env=environment, **options)  # noqa: S603 - our own scripts


def _facts(folder: Path, dataset: LabelledSet, parts: Sequence[Split], start: datetime) -> dict[str, Any]:
    challenge, columns = dataset.challenge, _columns(folder)
    targets = ", ".join(
        f"{target.title.lower()} ({target.minimum:g} to {target.maximum:g})" for target in challenge.targets
    )
    return {
        "title": challenge.title,
        "description": challenge.description or f"Predict {targets} from short clips, and explain why.",
        "image": load(CHECKOUT).docker_image,
        "phases": _phases(parts, start),
        "columns": columns,
        "targets": challenge.targets,
        "main": challenge.targets[challenge.main],
        "vocabulary": challenge.vocabulary,
        "meanings": {target.name: target.high for target in challenge.targets if target.high},
        "has_sources": dataset.has_sources,
        "rules": {name: text for name, text in vars(challenge.rules).items() if text},
        "dates": dict(challenge.dates),
    }


def _phases(parts: Sequence[Split], start: datetime) -> list[dict[str, Any]]:
    """Return the phases with their dates, consecutive from `start` on; open phases come first."""
    phases = []
    for part in sorted((part for part in parts if part.is_phase), key=lambda part: not part.is_open):
        end = start + (OPEN_LASTS if part.is_open else CLOSED_LASTS)
        phases.append({"part": part, "name": part.name, "title": part.name.capitalize(), "start": start, "end": end})
        start = end + GAP
    return phases


def _columns(folder: Path) -> Sequence[Any]:
    """Return the scoring program's columns for these settings."""
    try:
        return columns(read_settings(folder / "reference_data" / "practice" / "task.yaml"))
    except ScoringError as error:
        lines = "".join(f"\n  - {problem.line()}" for problem in error.problems)
        raise BundleError(f"the scoring program does not accept these settings:{lines}") from error
