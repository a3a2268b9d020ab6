"""Made juries: keys, and files as jurors send them."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bundle_tools.challenge.jury.criteria import DEFAULT, Key, RatedItem, Team, read_rules
from tests.tiny import swap

RULES = read_rules()
LETTERS = "ABCD"
Rate = Callable[[int, RatedItem], list[int]]
"""Ratings of an item by a juror (from 1)."""


def quick_rules(folder: Path) -> list[str]:
    """Options of the commands for the rules of every jury, but with few resamples."""
    rules = folder / "criteria.yaml"
    rules.write_bytes(DEFAULT.read_bytes())
    swap(rules, f"resamples: {RULES.resamples}\n", "resamples: 60\n")
    return ["--rules", str(rules)]


def make_key(teams: int = 4, clips: int = 8, jurors: int = 4, missing: tuple[tuple[str, str], ...] = ()) -> Key:
    names = [f"c{number:02}" for number in range(clips)]
    letters = LETTERS[:teams]
    genuine = [
        RatedItem(f"g-{letter}-{clip}", "genuine", clip, letter, "")
        for clip in names
        for letter in letters
        if (letter, clip) not in missing
    ]
    controls = [
        RatedItem(f"{kind}-{number}", kind, item.clip_id, item.letter, item.item_id)
        for kind in ("boilerplate", "repeat")
        for number, item in enumerate((genuine[0], genuine[-1]))
    ]
    return Key(
        phase="final",
        main_target="interview",
        rules_sha256=RULES.sha256,
        teams=tuple(
            Team(letter, f"team {letter}", hashlib.sha256(letter.encode()).hexdigest(), 60.0 - place, 1 + place // 2)
            for place, letter in enumerate(letters)
        ),
        clips=tuple(names),
        items=(*genuine, *controls),
        missing=missing,
        sheets=tuple(f"sheet{number}" for number in range(jurors)),
    )


def honest(quality: dict[str, float], noise: float = 0.7, seed: int = 1) -> Rate:
    """Jurors who see the quality of each team, with noise; controls come out as they should."""

    def rate(juror: int, item: RatedItem) -> list[int]:
        what = item.of if item.kind == "repeat" else item.item_id
        random = np.random.default_rng([seed, juror, *what.encode()])
        level = 0.8 if item.kind == "boilerplate" else quality[item.letter]
        own = 0.5 * (juror % 3 - 1)  # some jurors are strict
        return [int(value) for value in np.clip(np.rint(level + own + noise * random.normal(size=5)), 0, 5)]

    return rate


def answers_of(key: Key, juror: int, rate: Rate) -> dict[str, Any]:
    """All answers of one juror, as a sheet keeps them."""
    names = [criterion.name for criterion in RULES.criteria]
    return {
        item.item_id: {"ratings": dict(zip(names, rate(juror, item), strict=True)), "remark": "", "cannot_judge": False}
        for item in key.items
    }


def write_ratings(path: Path, key: Key, juror: int, answers: dict[str, Any], **changes: Any) -> Path:  # noqa: ANN401 - any field
    """Write a file as a sheet saves it."""
    content = {"sheet": key.sheets[juror - 1], "design": key.design, "answers": answers} | changes.pop("inner", {})
    payload = json.dumps(content)
    outer = {"format_version": 1, "sha256": hashlib.sha256(payload.encode()).hexdigest(), "payload": payload}
    path.write_text(json.dumps(outer | changes), "utf-8")
    return path
