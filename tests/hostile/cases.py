"""The cases: one folder each, with what is submitted and the verdict that it gets."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import yaml

HERE = Path(__file__).resolve().parent
TIERS = ("portable", "basic", "seccomp", "full")
EXIT_CODES = {"complete": 0, "partial": 0, "invalid": 1, "organiser_error": 2}
OWN = ("tier", "container", "scored", "alone", "stains", "waits", "settings")
"""Keys that a case has once; all others belong to a verdict."""
Class = Literal["S", "C", "W", "ok"]
Lost = Literal["prediction", "explanation", "text", "image", "evidence", "nothing", "some"]


@dataclass(frozen=True)
class Verdict:
    """What a case gets; README.md explains the fields."""

    kind: Class
    """`class` in the file."""
    status: str
    """Of run.json."""
    codes: tuple[str, ...]
    """Must all appear: on the attacked clips, or on the run where `kind` is S."""
    said: str
    """Must stand in one of the problems; may be empty."""
    lost: Lost
    """What the attacked clips lose."""
    attacked: tuple[int, ...] | None
    """Positions of the clips that may differ from an honest run; None for all."""
    hole: str
    """Why this verdict is not reached yet; empty where it is."""

    @property
    def exit_code(self) -> int:
        """Ingestion's exit code."""
        return EXIT_CODES[self.status]


@dataclass(frozen=True)
class Case:
    """One folder."""

    name: str
    """Of the folder."""
    rows: tuple[int, ...]
    """Of the table of bad inputs."""
    tier: str
    """The weakest tier at which the verdict holds."""
    verdict: Verdict
    """At that tier and above."""
    elsewhere: dict[str, Verdict] = field(default_factory=dict)
    """At weaker or other tiers where the case is also run."""
    container: bool = False
    """Whether it is also run in containers."""
    scored: bool = False
    """Whether scoring is run on what it leaves."""
    alone: bool = False
    """Whether it needs a run of its own although one clip shows what it does."""
    stains: bool = False
    """Whether it leaves the model process unfit for other cases."""
    waits: bool = False
    """Whether it goes on until a call has taken too long, although its codes do not say so."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Keys of `limits` that differ from the corpus's own."""

    @property
    def folder(self) -> Path:
        """Where it lies."""
        return HERE / self.name

    def at(self, tier: str) -> Verdict | None:
        """Return the verdict at `tier`; None where none is promised."""
        if tier in self.elsewhere:
            return self.elsewhere[tier]
        return self.verdict if TIERS.index(tier) >= TIERS.index(self.tier) else None


def waits(case: Case) -> bool:
    """Tell whether a case goes on until a call has taken too long, its own or that of the clip behind it."""
    return case.waits or "timeout" in case.verdict.codes or case.verdict.attacked == (2, 3)


def read_case(folder: Path) -> Case:
    """Read `expect.yaml` of a folder; an unknown key is an error."""
    content = yaml.safe_load((folder / "expect.yaml").read_text("utf-8"))
    rows, otherwise = content.pop("row"), content.pop("otherwise", {})
    own = {name: content.pop(name) for name in OWN if name in content}
    return Case(
        name=folder.name,
        rows=tuple(rows),
        tier=own.pop("tier", "portable"),
        verdict=_verdict(content),
        elsewhere={tier: _verdict({**content, "hole": "", **changes}) for tier, changes in otherwise.items()},
        **own,
    )


def _verdict(content: dict[str, Any]) -> Verdict:
    content = dict(content)
    kind: Class = content.pop("class")
    attacked = content.pop("attacked", [2])
    verdict = Verdict(
        kind=kind,
        status=content.pop("status", "invalid" if kind == "S" else "complete"),
        codes=tuple(content.pop("codes", ())),
        said=content.pop("said", ""),
        lost=content.pop("lost", "prediction" if kind == "C" else "nothing"),
        attacked=None if attacked == "all" else tuple(attacked),
        hole=content.pop("hole", ""),
    )
    if content:
        raise ValueError(f"unknown keys: {sorted(content)}")
    return verdict


CASES = {path.parent.name: read_case(path.parent) for path in sorted(HERE.glob("*/expect.yaml"))}
