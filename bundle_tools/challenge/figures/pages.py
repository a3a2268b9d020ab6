"""All figures of a bundle, and the files with marks: find outdated figures and update them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from bundle_tools.challenge.figures.blocks import BLOCKS
from bundle_tools.challenge.figures.marks import Change, FigureError, Filled, Problem, Table, fill
from bundle_tools.challenge.figures.phase import Phase, phases_of
from bundle_tools.challenge.figures.values import FAMILIES, VALUES
from bundle_tools.challenge.reading.video import UnreadableVideo
from bundle_tools.codabench.rules.document import Draft, read
from bundle_tools.codabench.version1 import as_version2, is_version1
from bundle_tools.errors import BundleError

PLACES = ("pages/*.md", "README.md", "starting_kit/README.md", "docs/*.md")

LARGEST_BYTES = 10_000_000
"""Longer files are not pages, but `bundle check` may meet them."""

# Settings and files that `bundle check` rejects can be anything.
ODD = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, OSError, RecursionError, UnreadableVideo)

Known = Mapping[str, str | FigureError]
T = TypeVar("T")


class Figures:
    """All figures and blocks of a bundle's pages, computed on demand."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self.values = Table(lambda: _joined({phase.name: _values(phase) for phase in self._phases}, "."))
        """Figures within a line."""
        self.blocks = Table(lambda: _joined({phase.name: _blocks(phase) for phase in self._phases}, ":"))
        """Blocks of lines."""

    def names(self) -> dict[str, str]:
        """Return every figure by its name in a mark, which includes the phase if phases differ."""
        known, found = self.values.known, {}
        for name, text in known.items():
            common = next((name.removesuffix(end) for end in self._ends if name.endswith(end)), "")
            if isinstance(text, str) and not isinstance(known.get(common), str):
                found[name] = text
        return found

    @cached_property
    def _phases(self) -> list[Phase]:
        if not (found := phases_of(self._draft)):
            raise FigureError("The bundle has no phase with a task.")
        return found

    @property
    def _ends(self) -> list[str]:
        return [f".{phase.name}" for phase in self._phases]


@dataclass(frozen=True)
class Page:
    """A file with marks, and its current content."""

    path: Path
    name: str
    """Relative to the bundle."""
    filled: Filled

    def write(self) -> None:
        """Write the file if anything has changed."""
        if self.filled.changes:
            self.path.write_bytes(self.filled.text.encode())


def open_bundle(root: Path) -> Draft:
    """Read a bundle's `competition.yaml`; one of version 1 as Codabench converts it.

    Raises BundleError when it cannot be used; `bundle check` lists all mistakes.
    """
    draft, findings = read(root, folder=True)
    if draft is None:
        raise BundleError(f"{root}: {findings[-1].what} Run `bundle check`.")
    return Draft(root, as_version2(draft.content), draft.lines, True) if is_version1(draft.content) else draft


def look_through(draft: Draft, only: Sequence[Path] | None = None) -> Iterator[Page]:
    """Compute the content of all marks of every page and guide, without writing.

    `only`: files to read; None: all of `PLACES`, and the pages that `competition.yaml` names. Raises BundleError when a
    file of `only` is not UTF-8 text; other such files are skipped.
    """
    figures = Figures(draft)
    for path in _files(draft) if only is None else only:
        try:
            text = path.read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            if only is not None:
                raise BundleError(f"{path}: expected a Markdown file, UTF-8 ({error}).") from error
            continue
        if "<!--" in text:
            name = path.relative_to(draft.root).as_posix() if path.is_relative_to(draft.root) else str(path)
            yield Page(path, name, fill(text, figures.values, figures.blocks))


def fill_pages(root: Path) -> list[str]:
    """Update all pages and guides of a bundle, after its settings or data have changed.

    Returns a line for each change and each mark that cannot be filled.
    """
    lines = []
    for page in look_through(open_bundle(root)):
        page.write()
        lines += told(page)
    return lines


def told(page: Page) -> list[str]:
    """Return a line for each change and each problem of a page."""
    notes: list[Change | Problem] = [*page.filled.changes, *page.filled.problems]
    return [f"{page.name}:{note.line}: {note}" for note in sorted(notes, key=lambda note: note.line)]


def _files(draft: Draft) -> list[Path]:
    named = [draft.inside(value) for value in (draft.keys.terms, *(page.file for page in draft.keys.pages))]
    found = [path for place in PLACES for path in draft.root.glob(place)] + [path for path in named if path is not None]
    return sorted(
        {path for path in found if path.suffix == ".md" and path.is_file() and path.stat().st_size <= LARGEST_BYTES}
    )


def _values(phase: Phase) -> Known:
    known: dict[str, str | FigureError] = {name: _made(make, phase) for name, make in VALUES.items()}
    for family, make in FAMILIES.items():
        members = _made(make, phase)
        if isinstance(members, FigureError):
            known[family] = members
        else:
            known |= {f"{family}.{member}": text for member, text in members.items()}
    return known


def _blocks(phase: Phase) -> Known:
    return {name: _made(make, phase) for name, make in BLOCKS.items()}


def _made(make: Callable[[Phase], T], phase: Phase) -> T | FigureError:
    try:
        return make(phase)
    except FigureError as error:
        return error
    except ODD as error:
        return FigureError(f"{phase.name}: cannot be computed ({error!r:.100}). Run `bundle check`.")


def _joined(by_phase: Mapping[str, Known], separator: str) -> Known:
    """Add the phase to every name; names without a phase are kept if all phases agree."""
    table: dict[str, str | FigureError] = {}
    for name in dict.fromkeys(name for known in by_phase.values() for name in known):
        found = {phase: known.get(name, FigureError(f"{phase} has no {name}.")) for phase, known in by_phase.items()}
        texts = {phase: text for phase, text in found.items() if isinstance(text, str)}
        common = next((why for why in found.values() if isinstance(why, FigureError)), next(iter(found.values())))
        if len(texts) == len(found) and len({*texts.values()}) > 1:
            told = "as a whole" if separator == ":" else ", ".join(f"{phase} {text}" for phase, text in texts.items())
            common = FigureError(f"Phases differ ({told}). Write the phase, too: {name}{separator}{next(iter(texts))}.")
        table |= {name: common, **{f"{name}{separator}{phase}": text for phase, text in found.items()}}
    return table
