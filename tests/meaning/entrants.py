"""The submissions whose honesty is known, and how their folders are made."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from tests import ROOT

SOLUTION = ROOT / "solutions" / "cue_reader"
ACCOUNT = Path(__file__).with_name("account")


@dataclass(frozen=True)
class Entrant:
    """One submission: a class of ``account/``, or the solution itself."""

    key: str
    """Short name."""
    title: str
    """What the table calls it."""
    model: str = ""
    """Module and class, as in ``stories.Noisy``; empty for the solution as it is."""
    setting: str = ""
    """A line of Python for the body of the class."""
    own: bool = False
    """Whether it predicts in its own way or keeps state; the others are the honest one with another explanation."""


ENTRANTS = (
    Entrant("honest", "honest"),
    # What is said about an honest model.
    Entrant("noise_0.5", "noise of 0.5 SD", "stories.Noisy", "amount = 0.5"),
    Entrant("noise_1", "noise of 1 SD", "stories.Noisy", "amount = 1.0"),
    Entrant("noise_2", "noise of 2 SD", "stories.Noisy", "amount = 2.0"),
    Entrant("random", "random evidence", "stories.Random"),
    Entrant("inverted", "inverted evidence", "stories.Inverted"),
    Entrant("uniform", "uniform evidence", "stories.Uniform"),
    Entrant("centre", "centre, average claims", "stories.Centre"),
    Entrant("other_clip", "another clip's explanation", "stories.OtherClip"),
    Entrant("boilerplate", "boilerplate text", "stories.Boilerplate"),
    Entrant("text_only", "honest text only", "stories.TextOnly"),
    Entrant("maps_only", "honest marks only", "stories.MapsOnly"),
    Entrant("other_model", "another model's explanation", "stories.OtherModel", own=True),
    Entrant("light_hidden", "hides that light counts", "orders.LightHidden"),
    Entrant("invented", "adds invented reasons", "orders.Invented"),
    # Places that are found badly.
    Entrant("shifted", "map shifted a cell", "stories.Shifted"),
    Entrant("smoothed", "map blurred over 3 x 3", "stories.Smoothed"),
    # Common methods.
    Entrant("gradient", "gradient times input", "maps.Gradient"),
    Entrant("lime", "LIME", "maps.Lime"),
    Entrant("occlusion", "occlusion", "maps.Occlusion"),
    Entrant("blur_freeze", "blurred blocks, frozen seconds", "maps.BlurFreeze"),
    # Right places and a wrong order of parts.
    Entrant("usual", "usual order", "orders.Usual"),
    Entrant("three_quarters", "usual order, 3/4 of clips", "orders.ThreeQuarters"),
    Entrant("fixed", "invented order", "orders.Fixed"),
    Entrant("reversed", "reversed order", "orders.Reversed"),
    Entrant("whole_person", "whole person marked", "orders.WholePerson"),
    Entrant("state", "order changes each call", "orders.State", own=True),
    # Tricks of form.
    Entrant("flat_wall", "nearly flat maps", "orders.FlatWall"),
    Entrant("flat_wall_fixed", "nearly flat maps, invented order", "orders.FlatWallFixed"),
    Entrant("even_time", "nearly flat time, even sum", "orders.EvenTime", own=True),
    Entrant("pressed", "first predictions pressed", "orders.Pressed", own=True),
    Entrant("three_tricks", "all three tricks", "orders.ThreeTricks", own=True),
    # What is true by construction.
    Entrant("places", "exact: mouth, eyes, hand", "construction.Places", own=True),
    Entrant("moment", "exact: gesture", "construction.Moment", own=True),
    # Models that react to altered copies.
    Entrant("gate_and_lot", "gate: unsharp faces, random second", "cheats.GateAndLot", own=True),
    Entrant("remembers", "memory between calls", "cheats.Remembers", own=True),
    Entrant("two_in_one", "two models in one", "cheats.TwoInOne", own=True),
    # Invented against the rule by somebody who had not written it.
    Entrant("nudges", "answers follow the map", "fresh.Nudges", own=True),
    Entrant("nudges_usual", "answers follow one order", "fresh.Nudges", "usual_only = True", own=True),
    Entrant("hazy", "differs when asked again", "fresh.Hazy", own=True),
    Entrant("dots", "one cell per part", "fresh.Dots"),
    Entrant("top_three", "names three causes", "fresh.TopThree"),
    Entrant("rule", "explains labels, not predictions", "fresh.Rule"),
    Entrant("from_scores", "guesses from scores", "fresh.FromScores"),
    Entrant("steps", "knows only more or less", "fresh.Steps", own=True),
    Entrant("one_given_up", "one target: smile alone, loud", "fresh.OneGivenUp", own=True),
    Entrant("two_formulas", "other weights in bright clips", "fresh.TwoFormulas", own=True),
    Entrant("loud_near", "stronger in close faces", "fresh.LoudNear", own=True),
    Entrant("neutral_gate", "weaker at neutral cues", "fresh.NeutralGate", own=True),
)


def write_submission(entrant: Entrant, folder: Path) -> Path:
    """Write what a participant would hand in to `folder`, which must not exist; returns it."""
    shutil.copytree(SOLUTION, folder, ignore=shutil.ignore_patterns("__pycache__", "README.md", "train.py"))
    if entrant.model:
        module, name = entrant.model.split(".")
        package = folder / "account"
        package.mkdir()
        for file in ("__init__", "honest", "stories", module):
            shutil.copy(ACCOUNT / f"{file}.py", package)
        model = f"from account.{module} import {name}\n\n\nclass Model({name}):\n    {entrant.setting or 'pass'}\n"
        (folder / "model.py").write_text(model, encoding="utf-8")
    return folder
