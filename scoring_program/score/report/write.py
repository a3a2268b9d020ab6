"""Rendering the page and writing it at one stroke."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from score.errors import Problem
from score.evaluation import Evaluation
from score.outcomes import Outcomes
from score.report.build import Facts, build_failure, build_report
from score.results import Results
from score.scores import write_atomically
from score.settings import Settings


def write_report(
    path: Path, results: Results, outcomes: Outcomes, evaluation: Evaluation, settings: Settings, worker: Facts
) -> None:
    """Write the page of a scored run; what it may show is decided in score.report.build."""
    write_atomically(path, _render("scored.html", build_report(results, outcomes, evaluation, settings, worker)))


def write_failure(path: Path, headline: str, problems: Iterable[Problem], worker: Facts) -> None:
    """Write the page of a run without scores: what happened, where, and how to fix it."""
    write_atomically(path, _render("failed.html", build_failure(headline, problems, worker)))


def _render(template: str, data: Any) -> str:  # noqa: ANN401 - one of the two data classes, or a test's
    loader = FileSystemLoader(Path(__file__).parent)
    # Autoescape for every template, whatever its name: nearly all text in the page is a participant's.
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template(template).render(data=data)
