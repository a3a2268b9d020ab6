"""Rules about texts: pages and terms, and the Markdown in them and in descriptions of phases."""

import re
from collections.abc import Iterator
from pathlib import Path

from bundle_tools.codabench.keys import Place
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.rules.findings import CRASHES, REFUSED, Finding, shown
from bundle_tools.codabench.rules.settings.addresses import linked, loaded

# Every visit loads the whole page, including pictures in data: addresses.
LARGE_BYTES = 1_000_000
# With more of them, the whole page should be rewritten.
MOST_TOLD = 20
CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
FENCE = re.compile(r"^ {0,3}(```+)(.*)$", re.MULTILINE)
# Inline code is no exception: what Codabench takes for a formula may begin in one piece and end in another.
FORMULA = re.compile(r"\$\$(?P<display>[\s\S]+?)\$\$|\$(?P<inline>[^$\n]+?)\$")
TEX = re.compile(r"[\\^_={}]|^[A-Za-z]$")
# Codabench restores blocks of code with JavaScript's `replace`, to which these signs are special.
SWALLOWED = re.compile(r"\$[$&`']")


def check_pages(draft: Draft) -> Iterator[Finding]:
    """Find what is wrong with the terms, the pages, and the descriptions of phases."""
    if draft.keys.terms is not None:
        yield from _check_file(draft, ("terms",), draft.keys.terms)
    for page in draft.keys.pages:
        if page.title == "Terms":
            what = "A page is titled Terms."
            effect = "Codabench then shows no tab for the terms."
            yield Finding("page-terms", "warning", draft.at(*page.place, "title"), what, effect, "Use another title.")
        if page.file is not None:
            yield from _check_file(draft, (*page.place, "file"), page.file)
    for phase in draft.keys.phases:
        if phase.description is not None:
            yield from _check_markdown(draft.at(*phase.place, "description"), "description", phase.description)


def file_of(draft: Draft, value: object) -> Path | None:
    """Open a file inside the bundle; None if there is none."""
    path = draft.inside(value)
    return path if path is not None and path.is_file() else None


def _check_file(draft: Draft, path: Place, value: object) -> Iterator[Finding]:
    where = draft.at(*path)
    file = file_of(draft, value)
    if file is None:
        what = f"{path[-1]}: expected an existing file inside the bundle; found {shown(value)}."
        yield Finding("page-missing", "error", where, what, REFUSED, "Correct the path.")
        return
    size = file.stat().st_size
    if size == 0:
        yield Finding("page-empty", "error", where, f"{value}: is empty.", REFUSED, "Write the page.")
        return
    if size > LARGE_BYTES:
        what = f"{value}: has {size / 1e6:.1f} MB."
        effect = "Codabench accepts it, but every visitor loads all of it."
        yield Finding("page-size", "note", where, what, effect, "Put pictures on a server and link to them.")
        if size > 100 * LARGE_BYTES:
            return
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        what = f"{value}: expected UTF-8 text."
        yield Finding("page-encoding", "error", where, what, CRASHES, "Save it as UTF-8.")
        return
    if not text.strip():
        what = f"{value}: contains only white space."
        yield Finding("page-blank", "warning", where, what, "Codabench shows an empty page.", "Write the page.")
    yield from _check_markdown(where, str(value), text)


def _check_markdown(where: str, name: str, text: str) -> Iterator[Finding]:
    prose = CODE.sub("", text)
    for found in _first(loaded(prose)):
        what = f"{name}: shows the relative picture {found}."
        effect = "Codabench stores only text: the picture stays blank."
        yield Finding("page-asset", "warning", where, what, effect, "Use an absolute address or a data: address.")
    for found in _first(linked(prose)):
        what = f"{name}: links to the relative address {found}."
        effect = "Codabench stores only text: the link leads nowhere."
        yield Finding("page-link", "warning", where, what, effect, "Use an absolute address, or name the page's tab.")
    yield from _check_fences(where, name, text)
    yield from _check_dollars(where, name, text)


def _check_dollars(where: str, name: str, text: str) -> Iterator[Finding]:
    doubtful = next((found for found in FORMULA.finditer(FENCED.sub("", text)) if not _is_tex(found)), None)
    if doubtful:
        what = f"{name}: {shown(doubtful.group())} stands between two dollar signs."
        effect = "Codabench shows it as a formula."
        yield Finding(
            "page-dollar", "note", where, what, effect, "Write the currency as a word, or remove one dollar sign."
        )
    swallowed = next((found.group() for code in FENCED.findall(text) for found in SWALLOWED.finditer(code)), None)
    if swallowed:
        what = f"{name}: a block of code contains {shown(swallowed)}."
        effect = "Codabench shows something else instead."
        yield Finding("page-dollar", "note", where, what, effect, "Write the code without it.")


def _is_tex(found: re.Match[str]) -> bool:
    """Distinguish a formula, which has no space next to its dollar signs, from two prices."""
    inline = found["inline"]
    return inline is None or (inline == inline.strip() and "`" not in inline and TEX.search(inline) is not None)


def _first(addresses: list[str]) -> list[str]:
    """Show the first of many addresses and the number of the others."""
    told = [shown(address) for address in addresses[:MOST_TOLD]]
    return [*told[:-1], f"{told[-1]} and {len(addresses) - MOST_TOLD} more"] if len(addresses) > MOST_TOLD else told


def _check_fences(where: str, name: str, text: str) -> Iterator[Finding]:
    opened, line, counted = "", 1, 0
    for fence in FENCE.finditer(text):
        ticks, rest = fence.group(1), fence.group(2).strip()
        line += text.count("\n", counted, fence.start())
        counted = fence.start()
        if opened:
            opened = "" if ticks.startswith(opened) and not rest else opened
        elif "`" in rest:
            what = f"{name}, line {line}: a block of code opens and closes on one line."
            effect = "Codabench shows it as running text."
            yield Finding("page-fence", "note", where, what, effect, "Put ``` and the language on a line of their own.")
        else:
            opened = ticks
    if opened:
        what = f"{name}: a block of code is never closed."
        effect = "Everything after it is shown as code."
        yield Finding("page-fence", "note", where, what, effect, "Close it with ``` on a line of its own.")
