"""Rules about pages, texts and the keys at the top of `competition.yaml`."""

import re
import warnings
from collections.abc import Iterator
from pathlib import Path

from PIL import Image, UnidentifiedImageError

from bundle_tools.codabench.keys import KeyPath, is_key
from bundle_tools.codabench.rules.document import ParsedBundle
from bundle_tools.codabench.rules.findings import CRASHES, REFUSED, Finding, shown

# Brackets of Markdown; an escaped sign is a separate sign, and a blank line closes anything open.
MARK = re.compile(r"""\\.|!?\[|\](?:\(\s*<?(?P<target>[^()<>"'\s]*))?|\n[ \t]*\n""")
DEFINITION = re.compile(
    r"""^ {0,3}\[(?!\^)[^\[\]\n]+\]:[ \t]*<?(?P<target>[^\s<>]+)>?[ \t]*(?:["'(].*)?$""", re.MULTILINE
)
TAG = re.compile(
    r"<(?P<name>a|area|audio|embed|iframe|img|input|source|track|video)(?=[\s/])(?P<rest>[^<>]*)", re.IGNORECASE
)
ATTRIBUTE = re.compile(
    r"""(?<=[\s"'/])(?P<name>[^\s"'<>/=]+)\s*=\s*(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>[^\s"'<>=`]+))""",
    re.IGNORECASE,
)
LINKING = frozenset({"a", "area"})
# Pictures must come from another site; a link may also lead to a place on the same site or page.
LOADED_ELSEWHERE = re.compile(r"https?://|data:|blob:|//", re.IGNORECASE)
LEADS_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|/|#", re.IGNORECASE)


def loaded(text: str) -> list[str]:
    """Return the relative addresses of pictures, films and sounds, each once."""
    return _relative(LOADED_ELSEWHERE, (target for linking, target in _addresses(text) if not linking))


def linked(text: str) -> list[str]:
    """Return the relative addresses of links, each once."""
    return _relative(LEADS_ELSEWHERE, (target for linking, target in _addresses(text) if linking))


def _relative(elsewhere: re.Pattern[str], targets: Iterator[str]) -> list[str]:
    return list(dict.fromkeys(target for target in targets if target and not elsewhere.match(target)))


def _addresses(text: str) -> Iterator[tuple[bool, str]]:
    """Yield (whether it is a link, address)."""
    opened: list[bool] = []
    for mark in MARK.finditer(text):
        sign = mark.group()
        if sign.endswith("[") and not sign.startswith("\\"):
            opened.append(sign == "[")
        elif sign.startswith("]"):
            linking = opened.pop() if opened else None
            if linking is not None and mark["target"]:
                yield linking, mark["target"]
        elif sign.startswith("\n"):
            opened.clear()
    for definition in DEFINITION.finditer(text):
        yield True, definition.group("target")
    for tag in TAG.finditer(text):
        wanted = {"href"} if tag.group("name").lower() in LINKING else {"src", "poster"}
        for attribute in ATTRIBUTE.finditer(tag.group("rest")):
            if attribute.group("name").lower() in wanted:
                yield "href" in wanted, (attribute["double"] or attribute["single"] or attribute["bare"] or "").strip()


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


def check_pages(bundle: ParsedBundle) -> Iterator[Finding]:
    """Find what is wrong with the terms, the pages, and the descriptions of phases."""
    if bundle.keys.terms is not None:
        yield from _check_file(bundle, ("terms",), bundle.keys.terms)
    for page in bundle.keys.pages:
        if page.title == "Terms":
            what = "A page is titled Terms."
            effect = "Codabench then shows no tab for the terms."
            yield Finding(
                "page-terms", "warning", bundle.at(*page.key_path, "title"), what, effect, "Use another title."
            )
        if page.file is not None:
            yield from _check_file(bundle, (*page.key_path, "file"), page.file)
    for phase in bundle.keys.phases:
        if phase.description is not None:
            yield from _check_markdown(bundle.at(*phase.key_path, "description"), "description", phase.description)


def file_of(bundle: ParsedBundle, value: object) -> Path | None:
    """Open a file inside the bundle; None if there is none, or a link, which `bundle build` leaves out."""
    path = bundle.inside(value)
    return path if path is not None and path.is_file() and not path.is_symlink() else None


def _check_file(bundle: ParsedBundle, path: KeyPath, value: object) -> Iterator[Finding]:
    where = bundle.at(*path)
    file = file_of(bundle, value)
    if file is None:
        what = f"{path[-1]}: expected an existing file inside the bundle, and no link; found {shown(value)}."
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
    for address in _first(loaded(prose)):
        what = f"{name}: shows the relative picture {address}."
        effect = "Codabench stores only text: the picture stays blank."
        yield Finding("page-asset", "warning", where, what, effect, "Use an absolute address or a data: address.")
    for address in _first(linked(prose)):
        what = f"{name}: links to the relative address {address}."
        effect = "Codabench stores only text: the link leads nowhere."
        yield Finding("page-link", "warning", where, what, effect, "Use an absolute address, or name the page's tab.")
    yield from _check_fences(where, name, text)
    yield from _check_dollars(where, name, text)


def _check_dollars(where: str, name: str, text: str) -> Iterator[Finding]:
    doubtful = next((match for match in FORMULA.finditer(FENCED.sub("", text)) if not _is_tex(match)), None)
    if doubtful:
        what = f"{name}: {shown(doubtful.group())} stands between two dollar signs."
        effect = "Codabench shows it as a formula."
        yield Finding(
            "page-dollar", "note", where, what, effect, "Write the currency as a word, or remove one dollar sign."
        )
    swallowed = next((match.group() for code in FENCED.findall(text) for match in SWALLOWED.finditer(code)), None)
    if swallowed:
        what = f"{name}: a block of code contains {shown(swallowed)}."
        effect = "Codabench shows something else instead."
        yield Finding("page-dollar", "note", where, what, effect, "Write the code without it.")


def _is_tex(match: re.Match[str]) -> bool:
    """Distinguish a formula, which has no space next to its dollar signs, from two prices."""
    inline = match["inline"]
    return inline is None or (inline == inline.strip() and "`" not in inline and TEX.search(inline) is not None)


def _first(addresses: list[str]) -> list[str]:
    """Show the first of many addresses and the number of the others."""
    named = [shown(address) for address in addresses[:MOST_TOLD]]
    return [*named[:-1], f"{named[-1]} and {len(addresses) - MOST_TOLD} more"] if len(addresses) > MOST_TOLD else named


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


# 25 million pixels take 75 MB and half a second.
MOST_PIXELS = 25_000_000
QUESTION = frozenset({"key", "type", "title", "selection", "is_required", "is_on_leaderboard"})
FORMATS = frozenset({"PNG", "JPEG", "GIF", "WEBP"})
# Addresses that the server's form accepts: words joined by single dots, and a host of letters, digits and hyphens.
MAILBOX = re.compile(r"""[^\s@.()<>,;:\\"\[\]]+(?:\.[^\s@.()<>,;:\\"\[\]]+)*|"[^"\\\r\n]*\"""")
HOST_PART = re.compile(r"[^\W_](?:[^\W_]|-){0,61}[^\W_]|[^\W_]")


def check_top(bundle: ParsedBundle) -> Iterator[Finding]:
    """Find what is wrong at the top level."""
    content, keys = bundle.content, bundle.keys
    if "version" not in content:
        what = "The key 'version' is missing."
        effect = "Codabench takes the file for version 1 (CodaLab) and fails to convert it."
        yield Finding("key-missing", "error", bundle.at(), what, effect, "Write version: 2.")
    elif isinstance(keys.version, float) or str(keys.version) != "2":
        what = f"version: expected 2; found {shown(keys.version)}."
        effect = "Codabench reads it as version 1 or refuses it, with a misleading message."
        yield Finding("version", "error", bundle.at("version"), what, effect, "Write version: 2.")
    if "leaderboard" in content and "leaderboards" not in content:
        what = "Found leaderboard; the key is leaderboards, a list."
        yield Finding("leaderboard-singular", "error", bundle.at("leaderboard"), what, REFUSED, "Rename it.")
    if keys.queue is not None and not is_key(keys.queue):
        what = f"queue: expected the key (UUID) of a queue; found {shown(keys.queue)}."
        yield Finding("queue", "error", bundle.at("queue"), what, CRASHES, "Copy the key from the queue's page.")
    if keys.contact_email is not None and not is_email(keys.contact_email):
        what = f"contact_email: expected an e-mail address; found {shown(keys.contact_email)}."
        yield Finding("email", "error", bundle.at("contact_email"), what, REFUSED, "Correct it or leave it out.")
    yield from _check_image(bundle)
    yield from _check_fact_sheet(bundle)


def is_email(text: str) -> bool:
    """Return whether Codabench accepts an e-mail address."""
    mailbox, _, host = text.rpartition("@")
    parts = host.split(".")
    if not mailbox.isascii() or not MAILBOX.fullmatch(mailbox) or len(parts) < 2 or len(parts[-1]) < 2:
        return False
    return all(HOST_PART.fullmatch(part) for part in parts)


def _check_image(bundle: ParsedBundle) -> Iterator[Finding]:
    value = bundle.keys.image
    if value is None:
        return
    where = bundle.at("image")
    path = file_of(bundle, value)
    if path is None:
        what = f"image: expected an existing file inside the bundle, and no link; found {shown(value)}."
        yield Finding("image-missing", "error", where, what, REFUSED, "Correct the path.")
        return
    try:
        with warnings.catch_warnings(action="ignore"), Image.open(path) as image:
            kind, mode, (width, height) = image.format, image.mode, image.size
            if width * height <= MOST_PIXELS:
                image.load()
    except UnidentifiedImageError:
        # Its own message would contain the temporary folder; SVG is the usual cause.
        what = f"image: expected a pixel image; found {shown(value)}, which is of no known kind."
        yield Finding("image-broken", "error", where, what, REFUSED, "Save it as PNG.")
        return
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        what = f"image: expected a picture; found: {error}."
        yield Finding("image-broken", "error", where, what, REFUSED, "Save it again as PNG.")
        return
    if width * height > MOST_PIXELS:
        what = f"image: {width} x {height} pixels, too many to check."
        effect = "Codabench unpacks them all for an icon 100 pixels wide."
        yield Finding("image-large", "warning", where, what, effect, "Use a picture of at most 1000 x 1000.")
    if kind not in FORMATS:
        what = f"image: expected PNG, JPEG, GIF or WebP; found {kind}."
        yield Finding("image-format", "error", where, what, REFUSED, "Save it as PNG.")
    elif mode == "CMYK":
        what = "image: expected RGB colours; found CMYK."
        yield Finding("image-cmyk", "error", where, what, CRASHES, "Save it as an RGB PNG.")
    elif int(100 / width * height) < 1:
        what = f"image: expected at most 100 times as wide as high; found {width} x {height}."
        yield Finding("image-flat", "error", where, what, CRASHES, "Use a squarer picture.")


def _check_fact_sheet(bundle: ParsedBundle) -> Iterator[Finding]:
    for key, question in (bundle.keys.fact_sheet or {}).items():
        where = bundle.at("fact_sheet", str(key))
        problem = None
        if not isinstance(question, dict) or set(question) != QUESTION:
            problem = f"expected exactly the keys {', '.join(sorted(QUESTION))}"
        elif question["key"] != key:
            problem = f"expected key: {key}; found {shown(question['key'])}"
        elif question["type"] not in ("checkbox", "text", "select"):
            problem = f"expected type checkbox, text or select; found {shown(question['type'])}"
        elif any(question[flag] not in ("true", "false") for flag in ("is_required", "is_on_leaderboard")):
            problem = 'expected the quoted words "true" or "false" in both flags'
        if problem:
            yield Finding("fact-sheet", "error", where, f"{key}: {problem}.", REFUSED, "Correct the question.")
