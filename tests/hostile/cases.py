"""The cases, each with what is submitted and the verdict that it gets: a table, or a folder."""

import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import yaml

HERE = Path(__file__).resolve().parent
ISOLATION_LEVELS = ("portable", "basic", "seccomp", "full")
EXIT_CODES = {"complete": 0, "partial": 0, "invalid": 1, "organiser_error": 2}
OWN = ("level", "container", "scored", "alone", "stains", "waits", "settings")
"""Keys that a case has once; all others belong to a verdict."""
CODE = ("model", "imports", "predict", "explain")
"""Keys of a case in a table: its model, or lines of it."""
MODEL = """\
{imports}
from honest import Escaped, Honest, kernel, must_fail


class Model(Honest):
    def in_{method}(self, clip, answer):
{code}
"""
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
    """One submission."""

    name: str
    """Of its folder, or of its entry in a table."""
    rows: tuple[int, ...]
    """Of the table of bad inputs."""
    level: str
    """The weakest level at which the verdict holds."""
    verdict: Verdict
    """At that level and above."""
    elsewhere: dict[str, Verdict] = field(default_factory=dict)
    """At weaker or other levels where the case is also run."""
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

    source: str | None = None
    """Its `model.py`, where the case stands in a table; None for a folder."""

    @property
    def folder(self) -> Path:
        """Where its files lie."""
        return HERE / self.name

    def at(self, level: str) -> Verdict | None:
        """Return the verdict at `level`; None where none is promised."""
        if level in self.elsewhere:
            return self.elsewhere[level]
        return self.verdict if ISOLATION_LEVELS.index(level) >= ISOLATION_LEVELS.index(self.level) else None


def waits(case: Case) -> bool:
    """Tell whether a case goes on until a call has taken too long, its own or that of the clip behind it."""
    return case.waits or "timeout" in case.verdict.codes or case.verdict.attacked == (2, 3)


def read_cases() -> dict[str, Case]:
    """Read all of them, in the order of their names; an unknown key is an error."""
    folders = {path.parent.name: yaml.safe_load(path.read_text("utf-8")) for path in HERE.glob("*/expect.yaml")}
    cases = {name: read_case(name, content) for name, content in folders.items()}
    for table in HERE.glob("*.yaml"):
        for name, content in yaml.safe_load(table.read_text("utf-8")).items():
            cases[name] = read_case(name, content, in_table=True)
    return dict(sorted(cases.items()))


def read_case(name: str, content: dict[str, Any], *, in_table: bool = False) -> Case:
    """Make a case of its keys.

    Raises ValueError: for a key that is not known.
    """
    code = {key: content.pop(key) for key in CODE if key in content}
    rows, otherwise = content.pop("row"), content.pop("otherwise", {})
    own = {key: content.pop(key) for key in OWN if key in content}
    return Case(
        name=name,
        rows=tuple(rows),
        level=own.pop("level", "portable"),
        verdict=_verdict(content),
        elsewhere={level: _verdict({**content, "hole": "", **changes}) for level, changes in otherwise.items()},
        source=_source(**code) if in_table else None,
        **own,
    )


def _source(model: str = "", imports: str = "", **methods: str) -> str:
    if model:
        return model
    ((method, code),) = methods.items()
    return MODEL.format(imports=imports, method=method, code=textwrap.indent(code, " " * 8))


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


CASES = read_cases()
