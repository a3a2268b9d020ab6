"""`bundle report`: make the report of a run again."""

import argparse
import tempfile
from pathlib import Path

from bundle_tools.challenge.compare.runs import expand, find_runs
from bundle_tools.challenge.scoring_program import use_scoring_program
from bundle_tools.cli.options import RUN, add_bundle, add_command, add_path
from bundle_tools.codabench.competition import find_root, load
from bundle_tools.console import say
from bundle_tools.errors import BundleError
from bundle_tools.page import write_page

PAGE = "detailed_results.html"
FULL_PAGE = "full_results.html"
ENDING = """\
--full shows single clips and labels of a closed phase. That page is for organisers only, and says so: give it to
nobody else, not even the participant. Its file name differs, so that nobody mistakes it for the platform's page.
"""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    report = add_command(commands, "report", "Make the report of a run again.", "runs/cue_reader-final --full", ENDING)
    add_path(report, "run", "RUN", RUN)
    report.add_argument("--full", action="store_true", help="show everything, for organisers only")
    add_path(report, "--out", "FILE", f"default: {PAGE} in the folder of the run; with --full {FULL_PAGE}")
    report.add_argument("--phase", metavar="PHASE", help="default: the phase that the run names")
    add_bundle(report)
    report.set_defaults(action=_report)


def _report(arguments: argparse.Namespace) -> int:
    if not arguments.run.exists():
        raise BundleError(f"{arguments.run}: expected a folder of `bundle run` or a zip, found nothing there.")
    sources = expand([arguments.run])
    if arguments.out and len(sources) > 1:
        raise BundleError(
            "--out names one page for several submissions. Leave it out: each gets a page in its own folder."
        )
    name = FULL_PAGE if arguments.full else PAGE
    outs = [arguments.out or (source if source.is_dir() else source.parent) / name for source in sources]
    if missing := [str(out) for out in outs if not out.parent.is_dir()]:
        raise BundleError(f"--out {missing[0]}: expected a file in an existing folder.")
    competition = load(find_root(arguments.bundle))
    wrong = []
    for source, out in zip(sources, outs, strict=True):
        with tempfile.TemporaryDirectory(prefix="bundle-report-") as folder:
            scratch = Path(folder)
            try:
                [run] = find_runs([source], scratch)
                phase = competition.phase(arguments.phase or run.task)
                use_scoring_program(phase, scratch)
                from bundle_tools.challenge.page_again import make_again  # noqa: PLC0415 - imports that program

                page = make_again(run, phase, scratch, full=arguments.full)
            except BundleError as error:
                wrong.append(str(error))
                continue
        write_page(out, page)
        say(f"Report: {out}")
    if wrong:
        raise BundleError(" ".join(wrong))
    return 0
