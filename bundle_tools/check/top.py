"""Rules about the top level of `competition.yaml`: version, texts, image, pages and terms."""

import re
from collections.abc import Iterator
from pathlib import Path

from PIL import Image, UnidentifiedImageError

from bundle_tools.check.dataset import is_key
from bundle_tools.check.document import Draft, Key
from bundle_tools.check.fields import Field, check_fields
from bundle_tools.check.findings import CRASHES, REFUSED, Finding, shown

BOOL = Field("bool")
TOP = {
    "version": Field("any", required=True),
    "title": Field("text", required=True, longest=256),
    "image": Field("path", required=True),
    "terms": Field("path", required=True),
    "pages": Field("list", required=True),
    "tasks": Field("list", required=True),
    "phases": Field("list", required=True),
    "leaderboards": Field("list", required=True),
    "solutions": Field("list", null=True),
    "description": Field("text", null=True, empty=True),
    "docker_image": Field("text", longest=128),
    "queue": Field("any", null=True),
    "registration_auto_approve": BOOL,
    "enable_detailed_results": BOOL,
    "show_detailed_results_in_submission_panel": BOOL,
    "show_detailed_results_in_leaderboard": BOOL,
    "auto_run_submissions": BOOL,
    "can_participants_make_submissions_public": BOOL,
    "make_programs_available": BOOL,
    "make_input_data_available": BOOL,
    "competition_type": Field("text", choices=frozenset({"competition", "benchmark"})),
    "fact_sheet": Field("mapping", null=True),
    "reward": Field("text", longest=256, null=True),
    "contact_email": Field("text", longest=256, null=True),
    "forum_enabled": BOOL,
}
PAGE = {"title": Field("text", required=True, longest=255), "file": Field("path", required=True)}
QUESTION = frozenset({"key", "type", "title", "selection", "is_required", "is_on_leaderboard"})
FORMATS = frozenset({"PNG", "JPEG", "GIF", "WEBP"})
EMAIL = re.compile(r"[^@\s]+@[^@\s.]+(\.[^@\s.]+)+")
RELATIVE_ASSET = re.compile(r"""(?:!\[[^\]]*\]\(|<img[^>]+src=["'])(?!https?://|data:|//)([^)"'\s]+)""", re.IGNORECASE)
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
FORMULA = re.compile(r"\$[^$\n]+\$")


def check_top(draft: Draft) -> Iterator[Finding]:
    """Find what is wrong at the top level."""
    content = draft.content
    yield from check_fields(draft, (), content, TOP)
    if "version" in content and (isinstance(content["version"], float) or str(content["version"]) != "2"):
        what = f"version: expected 2; found {shown(content['version'])}."
        effect = "Codabench reads it as version 1 or refuses it, with a misleading message."
        yield Finding("version", "error", draft.at("version"), what, effect, "Write version: 2.")
    if "leaderboard" in content and "leaderboards" not in content:
        what = "Found leaderboard; the key is leaderboards, a list."
        yield Finding("leaderboard-singular", "error", draft.at("leaderboard"), what, REFUSED, "Rename it.")
    if content.get("queue") is not None and not is_key(content["queue"]):
        what = f"queue: expected the key (UUID) of a queue; found {shown(content['queue'])}."
        yield Finding("queue", "error", draft.at("queue"), what, CRASHES, "Copy the key from the queue's page.")
    email = content.get("contact_email")
    if email is not None and not EMAIL.fullmatch(str(email)):
        what = f"contact_email: expected an e-mail address; found {shown(email)}."
        yield Finding("email", "error", draft.at("contact_email"), what, REFUSED, "Correct it or leave it out.")
    if "docker_image" not in content:
        what = "docker_image is missing."
        effect = "Codabench takes an old Python 3.7 image without OpenCV."
        yield Finding("image-default", "warning", draft.at(), what, effect, "Name an image with an exact version.")
    yield from _check_image(draft)
    if "terms" in content:
        yield from _check_text(draft, ("terms",), content["terms"])
    yield from _check_pages(draft)
    yield from _check_fact_sheet(draft)


def _check_image(draft: Draft) -> Iterator[Finding]:
    value = draft.content.get("image")
    if value is None:
        return
    where = draft.at("image")
    path = _file(draft, value)
    if path is None:
        what = f"image: expected an existing file inside the bundle; found {shown(value)}."
        yield Finding("image-missing", "error", where, what, REFUSED, "Correct the path.")
        return
    try:
        with Image.open(path) as image:
            image.load()
            kind, mode, (width, height) = image.format, image.mode, image.size
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        what = f"image: expected a picture; found: {error}."
        yield Finding("image-broken", "error", where, what, REFUSED, "Save it again as PNG.")
        return
    if kind not in FORMATS:
        what = f"image: expected PNG, JPEG, GIF or WebP; found {kind}."
        yield Finding("image-format", "error", where, what, REFUSED, "Save it as PNG.")
    elif mode == "CMYK":
        what = "image: expected RGB colours; found CMYK."
        yield Finding("image-cmyk", "error", where, what, CRASHES, "Save it as an RGB PNG.")
    elif int(100 / width * height) < 1:
        what = f"image: expected at most 100 times as wide as high; found {width} x {height}."
        yield Finding("image-flat", "error", where, what, CRASHES, "Use a squarer picture.")


def _check_pages(draft: Draft) -> Iterator[Finding]:
    for position, page in enumerate(_list(draft.content.get("pages"))):
        path: tuple[Key, ...] = ("pages", position)
        if not isinstance(page, dict):
            what = f"pages: expected title and file; found {shown(page)}."
            yield Finding("page-type", "error", draft.at(*path), what, CRASHES, "Write title and file.")
            continue
        yield from check_fields(draft, path, page, PAGE)
        if page.get("title") == "Terms":
            what = "A page is titled Terms."
            effect = "Codabench then shows no tab for the terms."
            yield Finding("page-terms", "warning", draft.at(*path, "title"), what, effect, "Use another title.")
        if page.get("file") is not None:
            yield from _check_text(draft, (*path, "file"), page["file"])


def _check_text(draft: Draft, path: tuple[Key, ...], value: object) -> Iterator[Finding]:
    where = draft.at(*path)
    file = _file(draft, value)
    if file is None:
        what = f"{path[-1]}: expected an existing file inside the bundle; found {shown(value)}."
        yield Finding("page-missing", "error", where, what, REFUSED, "Correct the path.")
        return
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        what = f"{value}: expected UTF-8 text."
        yield Finding("page-encoding", "error", where, what, CRASHES, "Save it as UTF-8.")
        return
    if not text.strip():
        yield Finding("page-empty", "error", where, f"{value}: is empty.", REFUSED, "Write the page.")
    for found in RELATIVE_ASSET.findall(text):
        what = f"{value}: shows the relative picture {shown(found)}."
        effect = "Codabench stores only text: the picture stays blank."
        yield Finding("page-asset", "warning", where, what, effect, "Use an absolute address or a data: address.")
    formula = FORMULA.search(CODE.sub("", text))
    if formula:
        what = f"{value}: {shown(formula.group())} stands between two dollar signs."
        yield Finding("page-dollar", "note", where, what, "Codabench shows it as a formula.", "Check that it is one.")


def _check_fact_sheet(draft: Draft) -> Iterator[Finding]:
    sheet = draft.content.get("fact_sheet")
    if not isinstance(sheet, dict):
        return
    for key, question in sheet.items():
        where = draft.at("fact_sheet", str(key))
        problem = None
        if not isinstance(question, dict) or set(question) != QUESTION:
            problem = f"expected exactly the keys {', '.join(sorted(QUESTION))}"
        elif question["key"] != key:
            problem = f"expected key: {key}; found {shown(question['key'])}"
        elif question["type"] not in {"checkbox", "text", "select"}:
            problem = f"expected type checkbox, text or select; found {shown(question['type'])}"
        elif not {question["is_required"], question["is_on_leaderboard"]} <= {"true", "false"}:
            problem = 'expected the quoted words "true" or "false" in both flags'
        if problem:
            yield Finding("fact-sheet", "error", where, f"{key}: {problem}.", REFUSED, "Correct the question.")


def _file(draft: Draft, value: object) -> Path | None:
    if not isinstance(value, str) or not value or value.startswith("/") or ".." in value.split("/"):
        return None
    path = draft.root / value
    return path if path.is_file() else None


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
