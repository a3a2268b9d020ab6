"""Rules about the top level of `competition.yaml`: version, texts, image and fact sheet."""

import re
import warnings
from collections.abc import Iterator

from PIL import Image, UnidentifiedImageError

from bundle_tools.codabench.keys import is_key
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.rules.findings import CRASHES, REFUSED, Finding, shown
from bundle_tools.codabench.rules.settings.pages import file_of

# 25 million pixels take 75 MB and half a second.
MOST_PIXELS = 25_000_000
QUESTION = frozenset({"key", "type", "title", "selection", "is_required", "is_on_leaderboard"})
FORMATS = frozenset({"PNG", "JPEG", "GIF", "WEBP"})
# Addresses that the server's form accepts: words joined by single dots, and a host of letters, digits and hyphens.
MAILBOX = re.compile(r"""[^\s@.()<>,;:\\"\[\]]+(?:\.[^\s@.()<>,;:\\"\[\]]+)*|"[^"\\\r\n]*\"""")
HOST_PART = re.compile(r"[^\W_](?:[^\W_]|-){0,61}[^\W_]|[^\W_]")


def check_top(draft: Draft) -> Iterator[Finding]:
    """Find what is wrong at the top level."""
    content, keys = draft.content, draft.keys
    if "version" not in content:
        what = "The key 'version' is missing."
        effect = "Codabench takes the file for version 1 (CodaLab) and fails to convert it."
        yield Finding("key-missing", "error", draft.at(), what, effect, "Write version: 2.")
    elif isinstance(keys.version, float) or str(keys.version) != "2":
        what = f"version: expected 2; found {shown(keys.version)}."
        effect = "Codabench reads it as version 1 or refuses it, with a misleading message."
        yield Finding("version", "error", draft.at("version"), what, effect, "Write version: 2.")
    if "leaderboard" in content and "leaderboards" not in content:
        what = "Found leaderboard; the key is leaderboards, a list."
        yield Finding("leaderboard-singular", "error", draft.at("leaderboard"), what, REFUSED, "Rename it.")
    if keys.queue is not None and not is_key(keys.queue):
        what = f"queue: expected the key (UUID) of a queue; found {shown(keys.queue)}."
        yield Finding("queue", "error", draft.at("queue"), what, CRASHES, "Copy the key from the queue's page.")
    if keys.contact_email is not None and not is_email(keys.contact_email):
        what = f"contact_email: expected an e-mail address; found {shown(keys.contact_email)}."
        yield Finding("email", "error", draft.at("contact_email"), what, REFUSED, "Correct it or leave it out.")
    yield from _check_image(draft)
    yield from _check_fact_sheet(draft)


def is_email(text: str) -> bool:
    """Return whether Codabench accepts an e-mail address."""
    mailbox, _, host = text.rpartition("@")
    parts = host.split(".")
    if not mailbox.isascii() or not MAILBOX.fullmatch(mailbox) or len(parts) < 2 or len(parts[-1]) < 2:
        return False
    return all(HOST_PART.fullmatch(part) for part in parts)


def _check_image(draft: Draft) -> Iterator[Finding]:
    value = draft.keys.image
    if value is None:
        return
    where = draft.at("image")
    path = file_of(draft, value)
    if path is None:
        what = f"image: expected an existing file inside the bundle; found {shown(value)}."
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


def _check_fact_sheet(draft: Draft) -> Iterator[Finding]:
    for key, question in (draft.keys.fact_sheet or {}).items():
        where = draft.at("fact_sheet", str(key))
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
