"""`bundle data exchanges`: other moments of the same face in filmed clips, and whether that can be noticed."""

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bundle_tools.atomic import write_text
from bundle_tools.challenge.reading.tables import PhaseData, read_settings
from bundle_tools.challenge.rules.detectability import FILE, FORMAT_VERSION, unmeasured
from bundle_tools.cli.options import add_bundle, add_command, add_workers, count, folders_of, workers
from bundle_tools.codabench.competition import find_root, load
from bundle_tools.codabench.rules.dataset import DataFiles
from bundle_tools.console import counted, say
from bundle_tools.driver import Driver, at_work
from bundle_tools.errors import BundleError
from bundle_tools.executors import workers_of
from bundle_tools.filmed.job import VERSION, make, result_of
from bundle_tools.filmed.phase import WORK, FilmedPhase, jobs_of, read_phase, seed_of, write_exchanges
from bundle_tools.filmed.sheet import FILE as SHEET
from bundle_tools.filmed.sheet import write_sheet
from bundle_tools.filmed.track import models_folder

ENDING = """\
Each clip of a phase gets two versions: A', whose mouth and eyes come from other moments like its own, and B, from
moments unlike them. Models are shown A' in place of the clip in the second pass, and parts of B. Training clips are
never touched. Called again after a stop, it goes on where it was. What cannot be exchanged keeps its original.

It needs two models that find faces: `make setup WITH=filmed`.
"""


def add_exchanges(kinds: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    exchanges = add_command(
        kinds, "data exchanges", "Exchange mouth and eyes in filmed clips, and measure whether that can be noticed.",
        "--bundle my_challenge", ENDING,
    )  # fmt: skip
    exchanges.add_argument(
        "--seed", metavar="N", type=count, help="keep it secret: names of files follow from it (default: the bundle's)"
    )
    add_workers(exchanges, "clips")
    add_bundle(exchanges)
    exchanges.set_defaults(action=_exchanges)


def _exchanges(arguments: argparse.Namespace) -> int:
    root = find_root(arguments.bundle).absolute()
    models = models_folder()
    phases, refused = [], []
    for phase in load(root).phases:
        try:
            phases.append(read_phase(phase.slug, *folders_of(phase)))
        except BundleError as error:
            refused.append(str(error))
    if refused:
        raise BundleError(" ".join(refused))
    seed, work = seed_of(root, arguments.seed), root / WORK
    jobs = {phase.name: jobs_of(phase, root, seed, models) for phase in phases}
    every = [job for of_phase in jobs.values() for job in of_phase]
    missing = [job for job in every if result_of(job) is None]
    if kept := len(every) - len(missing):
        say(f"{counted(kept, 'clip')} made in an earlier call.")
    if missing:
        alive = Path(missing[0].alive)
        with (
            at_work(work, alive, "data exchanges"),
            workers_of(arguments.workers, arguments.scheduler, arguments.slurm, work) as pool,
        ):
            problems = Driver(pool, make, "clips").run(missing)
        if problems:
            raise BundleError(f"{'; '.join(problems)}. The other clips are kept: call again to go on.")
    _write(root, phases, {name: [result_of(job) for job in of_phase] for name, of_phase in jobs.items()})
    return 0


def _write(root: Path, phases: list[FilmedPhase], made: dict[str, list[dict[str, Any] | None]]) -> None:
    """Write exchanges, figures and page, and say what ranks."""
    from bundle_tools.filmed.cues import add_cues  # noqa: PLC0415 - imports the ingestion program
    from bundle_tools.filmed.measure import SEED, measure  # noqa: PLC0415 - imports scikit-learn

    hashes, results = [], []
    for phase in phases:
        own = [
            {**result, "person": phase.people[result["clip_id"]]} for result in made[phase.name] if result is not None
        ]
        hashes.append(write_exchanges(phase, own))
        results += add_cues(phase, own, workers())
        ready = sum(result["entry"] is not None for result in own)
        say(f"{phase.name}: exchanges of {ready} of {len(phase.clips)} clips: {phase.inputs / 'exchanges.json'}")
    say("Measuring whether perturbed calls can be told from plain ones.")
    figures = measure([result for result in results if result["entry"] is not None])
    content = {"format_version": FORMAT_VERSION, "version": VERSION, "seed": SEED, "exchanges_sha256": hashes}
    text = json.dumps({**content, "interventions": figures}, indent=1) + "\n"
    for phase in phases:
        write_text(phase.reference / FILE, text)
    for line in areas_of(figures):
        say(line)
    write_sheet(root, results, figures)
    for phase in phases:
        inputs, reference = (
            PhaseData(str(folder), DataFiles(folder), read_settings(DataFiles(folder)) or {})
            for folder in (phase.inputs, phase.reference)
        )
        reasons = unmeasured(inputs, reference, [clip for clip, _, _ in phase.clips])
        if reasons:
            say("\n  - ".join([f"{phase.name}: the explanation score stays a diagnostic:", *reasons]))
        else:
            say(f"{phase.name}: explanations may rank: `rank_by: explanation` in task.yaml of the reference data.")
    say(f"Look through the exchanged parts: {root / SHEET}. It shows people: keep it private.")
    say("Say in the datasheet what was made (docs/templates/datasheet.md). Then: bundle data baselines, bundle pages.")


def areas_of(figures: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each intervention, see `measure.measure`: how well detectors tell it from a plain call."""
    for name, known in figures.items():
        areas = ", ".join(f"{detector} {area['auc']:.2f}" for detector, area in known["detectors"].items())
        yield f"{name}: area under the ROC curve {areas} ({known['clips']} clips of {known['people']} people)"
