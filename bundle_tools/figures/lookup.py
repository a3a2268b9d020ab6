"""From the name in a mark to the text of a bundle: phases agree, or the mark says which one is meant."""

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import TypeVar

from bundle_tools.check.document import Draft
from bundle_tools.figures.blocks import BLOCKS
from bundle_tools.figures.facts import PhaseFacts, phases_of
from bundle_tools.figures.inline import FAMILIES, INLINE, Value
from bundle_tools.figures.marks import FigureError, Figures

T = TypeVar("T")
# Settings that `bundle check` objects to can be anything.
ODD = (KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError, OSError)


def figures_of(draft: Draft) -> Figures:
    """Give all that can stand on the pages of a bundle; nothing is computed before it is asked for."""
    phases: list[PhaseFacts] = []

    def known() -> list[PhaseFacts]:
        # The scoring programs are asked once, and only where a mark needs them.
        if not phases:
            phases.extend(phases_of(draft))
        return phases

    return Figures(
        inline=_remembered(lambda name: _find(name, ".", _inline, known())),
        block=_remembered(lambda name: _find(name, ":", BLOCKS.get, known())),
        blocks=frozenset(BLOCKS),
    )


def all_names(draft: Draft) -> dict[str, str]:
    """Give every figure that applies, by the name to write in a mark; a phase is added where phases differ."""
    phases = phases_of(draft)
    found: dict[str, str] = {}
    for name in _names(phases):
        values = {}
        for phase in phases:
            try:
                values[phase.name] = _find(name, ".", _inline, [phase])
            except FigureError:
                continue
        if len(values) == len(phases) and len(set(values.values())) == 1:
            found[name] = next(iter(values.values()))
        else:
            found |= {f"{name}.{phase}": value for phase, value in values.items()}
    return found


def _remembered(find: Callable[[str], str]) -> Callable[[str], str]:
    """Look every name up once, those too that stand for nothing."""
    found: dict[str, str] = {}
    why_not: dict[str, str] = {}

    def look_up(name: str) -> str:
        if name not in found and name not in why_not:
            try:
                found[name] = find(name)
            except FigureError as error:
                why_not[name] = str(error)
        if name in why_not:
            raise FigureError(why_not[name])
        return found[name]

    return look_up


def _find(name: str, separator: str, lookup: Callable[[str], Value | None], phases: Sequence[PhaseFacts]) -> str:
    if not phases:
        raise FigureError("The bundle has no phase with a task.")
    # The name of a phase may hold the separator.
    ends = {phase.name: name.removesuffix(separator + phase.name) for phase in phases}
    chosen = [phase for phase in phases if ends[phase.name] != name and lookup(ends[phase.name])]
    value = lookup(ends[chosen[0].name] if chosen else name)
    if value is None:
        close = get_close_matches(name, _names(phases) if separator == "." else BLOCKS, n=1)
        raise FigureError("Unknown name" + (f"; did you mean {close[0]}?" if close else "."))
    texts = {phase.name: _computed(value, phase) for phase in chosen or phases}
    if len(set(texts.values())) > 1:
        told = ", ".join(f"{phase} {text}" for phase, text in texts.items()) if separator == "." else "as a whole"
        raise FigureError(f"Phases differ ({told}). Write the phase, too: {name}{separator}{next(iter(texts))}.")
    return next(iter(texts.values()))


def _computed(value: Callable[[PhaseFacts], T], phase: PhaseFacts) -> T:
    try:
        return value(phase)
    except ODD as error:
        raise FigureError(f"{phase.name}: cannot be computed ({error!r:.100}). Run `bundle check`.") from error


def _inline(name: str) -> Value | None:
    family, _, member = name.partition(".")
    if family not in FAMILIES or not member:
        return INLINE.get(name)
    members = FAMILIES[family]

    def value(phase: PhaseFacts) -> str:
        found = members(phase)
        if member not in found:
            raise FigureError(f"{phase.name} has no {family} of this name; it has {', '.join(found)}.")
        return found[member]

    return value


def _names(phases: Sequence[PhaseFacts]) -> list[str]:
    names = list(INLINE)
    for family, members in FAMILIES.items():
        for phase in phases:
            try:
                names += [f"{family}.{member}" for member in _computed(members, phase)]
            except FigureError:
                continue
    return list(dict.fromkeys(names))
