"""The files of a bundle that hold marks: what is stale in them, and writing it anew."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bundle_tools.check.document import Draft, read
from bundle_tools.errors import BundleError
from bundle_tools.figures.lookup import figures_of
from bundle_tools.figures.marks import Filled, fill
from bundle_tools.version1 import as_version2, is_version1

PLACES = ("pages/*.md", "README.md", "starting_kit/README.md", "docs/*.md")

LARGEST_BYTES = 10_000_000
"""Nobody reads a longer page; `bundle check` may meet one."""


@dataclass(frozen=True)
class Page:
    """A file with marks, and what it should be."""

    path: Path
    """The file."""
    name: str
    """Relative to the bundle."""
    filled: Filled
    """Its text with current figures."""

    def write(self) -> None:
        """Write it anew where anything differs."""
        if self.filled.changes:
            self.path.write_bytes(self.filled.text.encode())


def open_bundle(root: Path) -> Draft:
    """Read a bundle's `competition.yaml`; one of version 1 as Codabench converts it.

    Raises
    ------
    BundleError
        When it cannot be used; `bundle check` then tells everything that is wrong.
    """
    draft, findings = read(root, folder=True)
    if draft is None:
        raise BundleError(f"{root}: {findings[-1].what} Run `bundle check`.")
    return Draft(root, as_version2(draft.content), draft.lines, True) if is_version1(draft.content) else draft


def look_through(draft: Draft, only: Sequence[Path] | None = None) -> Iterator[Page]:
    """Compute what stands between the marks of every page and guide; nothing is written.

    Parameters
    ----------
    draft
        The bundle.
    only
        Files to look at; None: all of `PLACES`, and the pages that `competition.yaml` names.

    Raises
    ------
    BundleError
        When one of the files to look at is no UTF-8 text; of all others such files are left out.
    """
    figures = figures_of(draft)
    for path in _files(draft) if only is None else only:
        try:
            text = path.read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            if only is not None:
                raise BundleError(f"{path}: expected a Markdown file, UTF-8 ({error}).") from error
            continue
        if "<!--" in text:
            name = path.relative_to(draft.root).as_posix() if path.is_relative_to(draft.root) else str(path)
            yield Page(path, name, fill(text, figures))


def fill_pages(root: Path) -> list[str]:
    """Write all pages and guides of a bundle anew; called after its settings or data have changed.

    Returns
    -------
    list of str
        A line for each change and each mark that cannot be filled.
    """
    lines = []
    for page in look_through(open_bundle(root)):
        page.write()
        lines += told(page)
    return lines


def told(page: Page) -> list[str]:
    """Give a line for each change and each problem of a page."""
    lines = [(change.line, f"{page.name}:{change.line}: {change}") for change in page.filled.changes]
    lines += [(one.line, f"{page.name}:{one.line}: {one.name}: {one.what}") for one in page.filled.problems]
    return [line for _, line in sorted(lines)]


def _files(draft: Draft) -> list[Path]:
    pages = [page.get("file") for _, page in draft.entries("pages")]
    named = [draft.inside(value) for value in (draft.content.get("terms"), *pages)]
    found = [path for place in PLACES for path in draft.root.glob(place)] + [path for path in named if path is not None]
    return sorted(
        {path for path in found if path.suffix == ".md" and path.is_file() and path.stat().st_size <= LARGEST_BYTES}
    )
