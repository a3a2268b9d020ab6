"""`bundle compare`: which of several runs is better by more than luck."""

import argparse
import json
import tempfile
from pathlib import Path

from bundle_tools.challenge.compare.runs import find_runs
from bundle_tools.challenge.scoring_program import use_scoring_program
from bundle_tools.cli.options import RUN, add_bundle, add_command, add_path, positive
from bundle_tools.codabench.competition import Phase, find_root, load
from bundle_tools.console import say
from bundle_tools.errors import BundleError
from bundle_tools.page import write_page

RESAMPLES = 1000


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    compare = add_command(
        commands, "compare", "Say which of several runs are better by more than luck.",
        "runs/one-practice runs/two-practice --html comparison.html",
    )  # fmt: skip
    add_path(compare, "runs", "RUN", RUN, nargs="+")
    compare.add_argument("--reference", metavar="PHASE", help="default: the phase that the runs name")
    compare.add_argument("--resamples", metavar="N", type=positive, default=RESAMPLES, help="default: %(default)s")
    compare.add_argument("--json", action="store_true", help="print the comparison as JSON")
    add_path(compare, "--html", "FILE", "also write the comparison as a page, one file")
    compare.add_argument(
        "--full", action="store_true", help="with --html: show single clips and labels of a closed phase, too"
    )
    add_bundle(compare)
    compare.set_defaults(action=_compare)


def _compare(arguments: argparse.Namespace) -> int:
    if arguments.full and not arguments.html:
        raise BundleError("--full needs a page: add --html FILE.")
    if arguments.html and not arguments.html.parent.is_dir():
        raise BundleError(f"--html {arguments.html}: expected a file in an existing folder.")

    competition = load(find_root(arguments.bundle))
    with tempfile.TemporaryDirectory(prefix="bundle-compare-") as folder:
        scratch = Path(folder)
        runs = find_runs(arguments.runs, scratch)
        tasks = sorted({run.task for run in runs})
        if len(tasks) > 1:
            raise BundleError(f"expected runs of one phase, found {', '.join(tasks)}. Compare each phase separately.")
        phase: Phase = competition.phase(arguments.reference or tasks[0])
        use_scoring_program(phase, scratch)
        from bundle_tools.challenge.compare import field, judgement, page, table  # noqa: PLC0415 - import that program

        scored = field.score_field(phase, runs, arguments.resamples, scratch)
        rows = judgement.judge(scored)
    if arguments.html:
        write_page(arguments.html, page.comparison_page(scored, rows, full=arguments.full))
    if arguments.json:
        say(json.dumps(table.record(rows, phase.slug, arguments.resamples), indent=2))
    else:
        for line in table.lines(rows, phase.slug, arguments.resamples):
            say(line)
        if scored.settings.rank_by != "explanation":
            say(judgement.DIAGNOSTIC)
        if arguments.html:
            say(f"Page: {arguments.html}")
    return 0
