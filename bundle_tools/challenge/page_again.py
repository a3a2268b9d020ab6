"""Make the report of a run again with the bundle's own scoring program, optionally complete."""

from pathlib import Path

from bundle_tools.challenge.compare.runs import Run
from bundle_tools.challenge.programs import scoring_input, use_scoring_program
from bundle_tools.codabench.competition import Phase
from bundle_tools.errors import BundleError
from score.errors import ScoringError
from score.pipeline import page_again


def make_again(run: Run, phase: Phase, scratch: Path, *, full: bool) -> str:
    """Make the page.

    `full`: whether single clips and labels are shown even if the phase closes them. Raises BundleError when the phase
    lacks something, or the run cannot be scored, with the reasons.
    """
    reference = use_scoring_program(phase, scratch)
    source = scoring_input(scratch / "input", reference, run.folder)
    try:
        return page_again(source, full=full)
    except ScoringError as error:
        reasons = "; ".join(problem.line() for problem in error.problems)
        raise BundleError(f"{run.name}: {error.headline} {reasons}") from error
