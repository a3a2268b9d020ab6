"""`bundle report`, `compare`, `coopetition` and `convert`: what can be made of finished runs."""

import argparse
import json
import tempfile
from pathlib import Path

from bundle_tools.atomic import write_text
from bundle_tools.challenge.compare.runs import expand, find_runs
from bundle_tools.challenge.coopetition import lines, read_teams, read_works, record
from bundle_tools.cli.options import RUN, add_bundle, add_command, add_path, positive
from bundle_tools.codabench.competition import Phase, find_root, load
from bundle_tools.console import progress_bar, say
from bundle_tools.errors import BundleError
from bundle_tools.programs import report_again, use_scoring_program

PAGE = "detailed_results.html"
FULL_PAGE = "full_results.html"
ENDING = """\
--full shows single clips and labels of a closed phase. That page is for organisers only, and says so: give it to
nobody else, not even the participant. Its file name differs, so that nobody mistakes it for the platform's page.
"""


def add_report(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
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
    competition = load(find_root(arguments.bundle), trust=arguments.trust)
    wrong = []
    for source, out in zip(sources, outs, strict=True):
        with tempfile.TemporaryDirectory(prefix="bundle-report-") as folder:
            scratch = Path(folder)
            try:
                [run] = find_runs([source], scratch)
                phase = competition.phase(arguments.phase or run.task)
                page = report_again(run, phase, scratch, full=arguments.full)
            except BundleError as error:
                wrong.append(str(error))
                continue
        write_text(out, page)
        say(f"Report: {out}")
    if wrong:
        raise BundleError(" ".join(wrong))
    return 0


RESAMPLES = 1000


def add_compare(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
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

    competition = load(find_root(arguments.bundle), trust=arguments.trust)
    with tempfile.TemporaryDirectory(prefix="bundle-compare-") as folder:
        scratch = Path(folder)
        runs = find_runs(arguments.runs, scratch)
        tasks = sorted({run.task for run in runs})
        if len(tasks) > 1:
            raise BundleError(f"expected runs of one phase, found {', '.join(tasks)}. Compare each phase separately.")
        phase: Phase = competition.phase(arguments.reference or tasks[0])
        use_scoring_program(phase, scratch)
        from bundle_tools.challenge.compare import field, page  # noqa: PLC0415 - import that program

        scored = field.score_field(phase, runs, arguments.resamples, scratch)
        rows = field.standings(scored)
    if arguments.html:
        write_text(arguments.html, page.comparison_page(scored, rows, full=arguments.full))
    if arguments.json:
        say(json.dumps(field.record(rows, phase.slug, arguments.resamples), indent=2))
    else:
        for line in field.lines(rows, phase.slug, arguments.resamples):
            say(line)
        if scored.settings.rank_by != "explanation":
            say(field.DIAGNOSTIC)
        if arguments.html:
            say(f"Page: {arguments.html}")
    return 0


def add_coopetition(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    coopetition = add_command(
        commands, "coopetition", "Measure how useful each submission was to others.", "final --teams teams.csv"
    )
    add_path(coopetition, "runs", "RUN", RUN, nargs="+")
    add_path(
        coopetition, "--shared", "RUN", nargs="+", default=[],
        what="runs of other phases that these may credit; they receive points and pass them on, but give none",
    )  # fmt: skip
    add_path(coopetition, "--teams", "FILE", "a table of lines `run,team`: credits within a team do not count")
    coopetition.add_argument(
        "--baseline", metavar="SCORE", type=float, default=0.0,
        help="explanation score above which a submission leads (default: 0, the constant's score)",
    )  # fmt: skip
    coopetition.add_argument("--json", action="store_true", help="print the result as JSON")
    add_bundle(coopetition)
    coopetition.set_defaults(action=_coopetition)


def _coopetition(arguments: argparse.Namespace) -> int:
    competition = load(find_root(arguments.bundle), trust=arguments.trust)
    teams = read_teams(arguments.teams) if arguments.teams else {}
    with tempfile.TemporaryDirectory(prefix="bundle-coopetition-") as folder:
        scratch = Path(folder)
        own = expand(arguments.runs)
        all_runs = find_runs([*own, *arguments.shared], scratch)
        runs, shared = all_runs[: len(own)], all_runs[len(own) :]
        tasks = sorted({run.task for run in runs})
        if len(tasks) > 1:
            raise BundleError(
                f"expected runs of one phase, found {', '.join(tasks)}. "
                "Name those whose scores count first, and runs of other phases after --shared."
            )
        same = sorted(run.name for run in shared if run.task == tasks[0])
        if same:
            raise BundleError(
                f"--shared {', '.join(same)}: runs of the phase {tasks[0]} itself. Name them before --shared."
            )
        unknown = sorted(teams.keys() - {run.name for run in all_runs})
        if unknown:
            raise BundleError(
                f"{arguments.teams}: {', '.join(unknown)}: none of these runs. Use the names of the runs."
            )
        teamless = sorted({run.name for run in all_runs} - teams.keys()) if shared else []
        if teamless:  # credits within a team must not count
            raise BundleError(
                f"--shared needs a team for every run, in a table for --teams; without one: {', '.join(teamless)}."
            )
        phase = competition.phase(tasks[0])
        use_scoring_program(phase, scratch)
        from bundle_tools.challenge.compare.field import TOTAL, score_field  # noqa: PLC0415 - imports that program

        field = score_field(phase, runs, 1, scratch)
        for task in sorted({run.task for run in shared}):  # scores need no check: scoring detects changed runs
            checked = scratch / f"shared-{task}"
            checked.mkdir()
            score_field(competition.phase(task), [run for run in shared if run.task == task], 1, checked)
        totals = {entry.name: entry.points[TOTAL] for entry in field.entries}
        works, remarks = read_works(all_runs, totals, teams)
    if arguments.json:
        say(json.dumps(record(works, arguments.baseline, remarks), indent=2))
        return 0
    for line in lines(works, arguments.baseline, remarks):
        say(line)
    return 0


def add_convert(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    convert = add_command(
        commands, "convert", "Turn the files of 2017 into this challenge's records.",
        "files_2017 --out records --target neuroticism=emotional_stability",
    )  # fmt: skip
    add_path(convert, "source", "SOURCE", what="a folder with prediction.pkl, and perhaps description.pkl")
    add_path(convert, "--out", "DIR", "a folder that is empty or does not exist yet", required=True)
    add_path(convert, "--aliases", "FILE", "a table clip_id,name with the older names of clips")
    convert.add_argument(
        "--target", metavar="OLDER=OWN", action="append", default=[],
        help="an older name of a target, e.g. neuroticism=emotional_stability; values stay as they are",
    )  # fmt: skip
    convert.set_defaults(action=_convert)


def _convert(arguments: argparse.Namespace) -> int:
    source, out = arguments.source, arguments.out
    if not source.is_dir():
        raise BundleError(f"{source}: expected a folder. Unpack it first.")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BundleError(f"--out {out}: expected a folder that is empty or new. Choose another one.")
    from bundle_tools.challenge.convert import read_names, write_records  # noqa: PLC0415 - imports the ingestion program

    names = read_names(arguments.aliases, arguments.target)
    out.parent.mkdir(parents=True, exist_ok=True)
    # Written elsewhere and moved, so that it is never incomplete.
    with tempfile.TemporaryDirectory(prefix=".convert-", dir=out.parent) as scratch, progress_bar("clips") as progress:
        records = Path(scratch) / "records"
        records.mkdir()
        clips = write_records(source, records, names, progress)
        if out.exists():
            out.rmdir()
        records.rename(out)
    say(f"{len(clips)} clips: {', '.join(sorted(path.name for path in out.iterdir()))} in {out}")
    if unused := sorted(names.clips.keys() - set(clips)):
        say(f"--aliases {arguments.aliases}: {len(unused)} names match no clip: {', '.join(unused)}")
    return 0
