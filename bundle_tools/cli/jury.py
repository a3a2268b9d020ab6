"""`bundle jury`: make the sheets of a jury, and score what jurors send back."""

import argparse
import json
import secrets
import tempfile
from pathlib import Path

from bundle_tools.atomic import write_text
from bundle_tools.challenge.compare.runs import find_runs
from bundle_tools.challenge.jury.criteria import DEFAULT, read_key, read_rules
from bundle_tools.challenge.jury.panel import gather, read_answers
from bundle_tools.challenge.jury.publish import lines, ratings_table, record, reference, result_page
from bundle_tools.challenge.jury.result import evaluate
from bundle_tools.cli.options import RUN, add_bundle, add_command, add_path, positive
from bundle_tools.codabench.competition import Phase, find_root, load
from bundle_tools.console import progress_bar, say
from bundle_tools.errors import BundleError
from bundle_tools.programs import use_scoring_program

CLIPS = 15
JURORS = 5


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    jury = add_command(
        commands, "jury", "Let people rate the finalists' explanations blind.",
        "make finalists --out jury\nscore ratings/*.json --key jury/key.json --out jury_result",
    )  # fmt: skip
    actions = jury.add_subparsers(required=True, metavar="COMMAND")
    make = add_command(
        actions, "jury make", "Write one page per juror, and the key that you keep.", "finalists --jurors 5 --out jury"
    )
    add_path(make, "runs", "RUN", f"a finalist: {RUN}", nargs="+")
    add_path(make, "--out", "DIR", "a folder that does not exist yet", required=True)
    make.add_argument("--jurors", metavar="N", type=positive, default=JURORS, help="default: %(default)s")
    make.add_argument("--clips", metavar="N", type=positive, default=CLIPS, help="at most; default: %(default)s")
    make.add_argument("--seed", metavar="TEXT", help="any text, to make the same jury again; default: a secret one")
    _add_rules(make)
    add_bundle(make)
    make.set_defaults(action=_make)
    score = add_command(
        actions, "jury score", "Read the ratings, and write the result with its report.",
        "ratings/*.json --key jury/key.json --out jury_result",
    )  # fmt: skip
    add_path(score, "ratings", "FILE", "a file that a juror saved", nargs="+")
    add_path(score, "--key", "FILE", "key.json of `bundle jury make`", required=True)
    add_path(score, "--out", "DIR", "a folder for the result", required=True)
    score.add_argument(
        "--partial", action="store_true", help="preview the result: accept unfinished sheets and few jurors"
    )
    score.add_argument("--write", action="store_true", help="also put the ratings into the phase's reference data")
    score.add_argument("--json", action="store_true", help="print the result as JSON")
    _add_rules(score)
    add_bundle(score)
    score.set_defaults(action=_score)


def _add_rules(parser: argparse.ArgumentParser) -> None:
    add_path(parser, "--rules", "FILE", "criteria and rules; default: criteria.yaml of bundle_tools/challenge/jury")


def _make(arguments: argparse.Namespace) -> int:
    rules = read_rules(arguments.rules or DEFAULT)
    competition = load(find_root(arguments.bundle), trust=arguments.trust)
    with tempfile.TemporaryDirectory(prefix="bundle-jury-") as folder, progress_bar("Clips") as progress:
        scratch = Path(folder)
        runs = find_runs(arguments.runs, scratch)
        tasks = sorted({run.task for run in runs})
        if len(tasks) > 1:
            raise BundleError(f"expected runs of one phase, found {', '.join(tasks)}. A jury is for one phase.")
        phase = competition.phase(tasks[0])
        use_scoring_program(phase, scratch)
        from bundle_tools.challenge.jury.make import make_jury  # noqa: PLC0415 - imports that program

        made = make_jury(
            phase, runs, arguments.out,
            jurors=arguments.jurors, clips=arguments.clips, rules=rules, seed=arguments.seed or secrets.token_hex(16),
            scratch=scratch, progress=progress,
        )  # fmt: skip
    key = made.design.key
    say(f"{len(key.teams)} teams, {len(key.clips)} clips, {len(key.items)} items on each sheet.")
    if len(key.clips) < arguments.clips:
        say(f"Fewer clips than {arguments.clips}: no person is shown twice, and some clips lack a second explanation.")
    say(f"Clips in each fifth of the labels, from low to high: {', '.join(map(str, made.balance.levels))}.")
    for attribute, counts in made.balance.groups.items():
        say(f"  {attribute}: {', '.join(f'{value} {count}' for value, count in counts.items())}")
    for sheet in made.sheets:
        say(f"  {sheet}  {sheet.stat().st_size / 1e6:.1f} MB")
    for letter, clip_id in key.missing:
        say(f"  {key.team(letter).name} has no explanation of {clip_id}, which counts as the lowest rating.")
    say(f"Send each juror one sheet. Keep {made.key} private: it says which team is which.")
    return 0


def _score(arguments: argparse.Namespace) -> int:
    rules, key = read_rules(arguments.rules or DEFAULT), read_key(arguments.key)
    answers = read_answers(arguments.ratings, key, rules, partial=arguments.partial)
    panel = gather(key, rules, answers)
    counting = sum(juror.counts for juror in panel.jurors)
    if counting < rules.least_jurors and (arguments.write or not arguments.partial):
        left_out = "".join(
            f"\n  - juror {juror.number}: {'; '.join(juror.reasons)}" for juror in panel.jurors if not juror.counts
        )
        raise BundleError(
            f"{counting} of {len(panel.jurors)} jurors count; expected at least {rules.least_jurors} for a result. Ask "
            f"more jurors, or preview the result with --partial.{left_out}"
        )
    result = evaluate(panel, key, rules)
    letters = {item.item_id: item.letter for item in key.items if item.kind == "genuine"}
    remarks = [
        (letters[item_id], answer.remark)
        for sheet in answers
        for item_id, answer in sheet.items.items()
        if item_id in letters and answer.remark.strip()
    ]
    written = {  # everything is computed before the first file is written
        "jury.json": reference(result, key, rules),
        "jury.html": result_page(result, panel, key, rules, remarks),
        "ratings.csv": ratings_table(answers, panel, key, rules),
    }
    phase = load(find_root(arguments.bundle)).phase(key.phase) if arguments.write else None
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, text in written.items():
        write_text(arguments.out / name, text)
    if phase is not None:
        _into_reference(phase, written["jury.json"])
    if arguments.json:
        say(json.dumps(record(result, panel, key), indent=2))
        return 0
    for line in lines(result, panel):
        say(line)
    say(f"Report: {arguments.out / 'jury.html'}; all ratings without names: {arguments.out / 'ratings.csv'}")
    return 0


def _into_reference(phase: Phase, text: str) -> None:
    """Put the ratings beside the labels, and name them in the settings."""
    folder = phase.task.reference_data
    if folder is None or not folder.is_dir():
        raise BundleError(f"phase {phase.slug}: expected a folder of reference data to write into.")
    (folder / "jury.json").write_text(text, "utf-8")
    settings = folder / "task.yaml"
    content = settings.read_text("utf-8")
    if not any(line.startswith("jury:") for line in content.splitlines()):
        settings.write_text(content.rstrip("\n") + "\njury: jury.json\n", "utf-8")
    say(f"Wrote {folder / 'jury.json'}. Score the submissions again to fill the jury column.")
