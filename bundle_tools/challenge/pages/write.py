"""Pages rendered from their templates: written where nobody has edited them, and compared.

A page ends with a comment that names its template and the digest of what the template gave. So a page that is merely
stale can be told from one that was edited by hand, which is never overwritten. A template in the bundle, beside its
page (``pages/data.md.j2``), comes before the one here.
"""

import base64
import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path, PurePosixPath
from typing import Any

import jinja2

from bundle_tools.challenge.pages.figures import figures
from bundle_tools.challenge.pages.phase import ODD, FigureError
from bundle_tools.codabench.bounded_yaml import load_bounded
from bundle_tools.codabench.rules.document import ParsedBundle, read
from bundle_tools.codabench.version1 import as_version2, is_version1
from bundle_tools.errors import BundleError
from bundle_tools.phase_data.files import templates_in

TEMPLATES = Path(__file__).with_name("templates")
PICTURES = Path(__file__).resolve().parents[3] / "docs" / "images" / "overview"
"""Where `docs/images/make.py --overview` writes the pictures of pages."""
VALUES = "pages/values.yaml"
"""What templates say of a bundle and no setting holds: `meanings` of high values by target, and `has_sources`."""
LAST_LINE = re.compile(r"<!-- bundle pages: (?P<template>\S+) (?P<digest>[0-9a-f]{12}) -->\s*\Z")
OLD_MARK = "<!--/-->"
"""What closed a figure on pages of earlier versions, which nothing fills any more."""
PAGE_NAME = re.compile(r"(?:[\w-]{1,80}/){0,3}[\w-]{1,80}\.md")
LARGEST_BYTES = 10_000_000
"""Longer files are not pages, but `bundle check` may meet them."""
LONGEST_SHOWN, SHOWN_BEFORE = 60, 20
MOST_SHOWN = 3


@dataclass(frozen=True)
class PageFile:
    """A page with a template."""

    path: Path
    name: str
    """Relative to the bundle."""
    before: str | None
    """The text of the file, without its last line; None if there is no file."""
    digests: tuple[str, str]
    """Of what the template gave when the page was written, and of what it gives now."""
    text: str
    """What the template gives now; empty if it cannot be rendered."""
    last_line: str
    problem: str = ""

    @property
    def is_edited(self) -> bool:
        """Whether somebody has edited it by hand."""
        return self.before is not None and digest(self.before) not in self.digests

    @property
    def is_stale(self) -> bool:
        """Whether its template gives another text than when it was written."""
        return self.before is None or self.digests[0] != self.digests[1]

    @property
    def content(self) -> str:
        """The whole file as it should be."""
        return f"{self.text}\n{self.last_line}\n"

    def notes(self) -> list[str]:
        """Return a line for each difference from the template, and for whatever keeps the page from being written."""
        if self.problem:
            return [f"{self.name}: {self.problem}"]
        if self.before is None:
            return [f"{self.name}: written."]
        if not self.is_edited:
            return [f"{self.name}:{line}: {before} -> {expected}" for line, before, expected in self.changes()]
        kept = f"{self.name}: edited by hand, so it stays as it is."
        return [f"{kept} {self.advice()}" if self.is_stale else kept]

    def changes(self) -> Iterator[tuple[int, str, str]]:
        """Yield each place where the lines of the file differ from its template: number, and the beginning of both."""
        old, new = (self.before or "").splitlines(), self.text.splitlines()
        for tag, start, end, begin, stop in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if tag != "equal":
                before, expected = " ".join(old[start:end]), " ".join(new[begin:stop])
                pairs = enumerate(zip(before, expected, strict=False))
                same = max(0, next((at for at, (one, other) in pairs if one != other), 0) - SHOWN_BEFORE)
                yield start + 1, _short(before, same), _short(expected, same)

    def advice(self) -> str:
        """Say what an edited page lacks, and how to go on."""
        lines = self.before.splitlines() if self.before else []
        lacking = [line for line in self.text.splitlines() if line not in lines]
        shown = "; ".join(f"'{_short(line)}'" for line in lacking[:MOST_SHOWN])
        more = f" and {len(lacking) - MOST_SHOWN} more lines" if len(lacking) > MOST_SHOWN else ""
        return (
            f"Its template now has {shown}{more}. Correct the page and end it with {self.last_line}, "
            "or delete it and run `bundle pages`."
        )


def open_bundle(root: Path, *, trust: bool = False) -> ParsedBundle:
    """Read a bundle's `competition.yaml`; one of version 1 as Codabench converts it.

    `trust`: whether the user has said that its programs may run here. Raises BundleError when it cannot be used;
    `bundle check` lists all mistakes.
    """
    bundle, findings = read(root, folder=True)
    if bundle is None:
        raise BundleError(f"{root}: {findings[-1].what} Run `bundle check`.")
    content = as_version2(bundle.content) if is_version1(bundle.content) else bundle.content
    return replace(bundle, content=content, trusted=trust)


def pages_of(bundle: ParsedBundle, only: Sequence[Path] | None = None) -> Iterator[PageFile]:
    """Render all pages with a template, without writing.

    `only`: the files to render; None: all that `competition.yaml` names. A page without a last line of ours is
    somebody's own, and left out, unless it has marks of an earlier version; so is one from a template that is in a
    zip. Raises BundleError when a file of `only` is left out.
    """
    named = (bundle.keys.terms, *(page.file for page in bundle.keys.pages))
    paths = {bundle.root / name: name for name in named if isinstance(name, str) and PAGE_NAME.fullmatch(name)}
    environment = templates_in(*([bundle.root] if bundle.folder else []), TEMPLATES)
    environment.filters["table_rows"] = _table_rows
    context: dict[str, Any] = {}
    rendered = set()
    for path in paths if only is None else [path for path in only if path in paths]:
        name, before, last = paths[path], _text(path), None
        if before is not None and (last := LAST_LINE.search(before)) is None and OLD_MARK not in before:
            continue
        own, standard = f"{name}.j2", f"{PurePosixPath(name).name}.j2"
        has_own = (bundle.root / own).is_file() or (last is not None and last["template"] == own)
        template = own if has_own else standard
        if (has_own and not bundle.folder) or (not has_own and not (TEMPLATES / standard).is_file()):
            continue
        rendered.add(path)
        text, problem = "", ""
        try:
            context = context or _context(bundle)
            text = environment.get_template(template).render(context).rstrip("\n") + "\n"
        except (jinja2.TemplateError, *ODD) as error:
            problem = str(error) or type(error).__name__
        now = digest(text)
        digests = (last["digest"] if last else "", now)
        before = before[: last.start()].rstrip("\n") + "\n" if before is not None and last else before
        yield PageFile(path, name, before, digests, text, f"<!-- bundle pages: {template} {now} -->", problem)
    if lost := [str(path) for path in only or () if path not in rendered]:
        raise BundleError(f"{', '.join(lost)}: expected a page that `bundle pages` has written; found another file.")


def write_pages(root: Path, only: Sequence[Path] | None = None, *, trust: bool = False) -> list[str]:
    """Bring the pages of a bundle up to date, after its settings or data have changed, but for those edited by hand.

    Returns a line for each change, and for each page that could not be written.
    """
    lines = []
    for page in pages_of(open_bundle(root, trust=trust), only):
        lines += page.notes()
        if page.is_stale and not page.is_edited and not page.problem:
            page.path.parent.mkdir(parents=True, exist_ok=True)
            page.path.write_text(page.content, "utf-8", newline="\n")
    return lines


def digest(text: str) -> str:
    """Return the digest of a page without its last line."""
    return hashlib.sha256(text.strip("\n").encode("utf-8", "surrogateescape")).hexdigest()[:12]


def picture(file: str, width: int, shows: str) -> str:
    """Return a picture as data, because the platform stores no files beside a page's text.

    `width`: largest width, pixels. `shows`: the text instead of it.
    """
    kind = {".webp": "webp", ".svg": "svg+xml"}[Path(file).suffix]
    data = base64.b64encode((PICTURES / file).read_bytes()).decode()
    style = f"width:100%;max-width:{width}px;height:auto"
    return f'<p><img style="{style}" alt="{shows}" src="data:image/{kind};base64,{data}"></p>'


def _context(bundle: ParsedBundle) -> dict[str, Any]:
    path = bundle.root / VALUES
    own = load_bounded(path.read_text("utf-8-sig")) if path.is_file() else {}
    if not isinstance(own, dict):
        raise FigureError(f"{VALUES}: expected keys and values; found {own!r:.60}.")
    return {**figures(bundle), "own": {"meanings": {}, "has_sources": True} | own, "picture": picture}


def _table_rows(rows: Sequence[Sequence[str]]) -> str:
    """Write rows of a Markdown table, the first of which is its head."""
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join([*lines[:1], "|" + "---|" * len(rows[0]), *lines[1:]])


def _text(path: Path) -> str | None:
    if not path.exists():
        return None
    if not path.is_file() or path.stat().st_size > LARGEST_BYTES:
        return ""
    return path.read_bytes().decode("utf-8", "surrogateescape").replace("\r\n", "\n")


def _short(line: str, same: int = 0) -> str:
    text = f"…{line[same:]}" if same and len(line) > LONGEST_SHOWN else line or "nothing"
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"
