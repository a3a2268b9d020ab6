"""Files of a phase: texts from templates, pictures, and one key of a settings file set without touching the rest."""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import jinja2
import yaml
from av.error import FFmpegError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from bundle_tools.atomic import write_text
from bundle_tools.console import Progress
from bundle_tools.decoding import Unusable
from bundle_tools.errors import BundleError
from bundle_tools.phase_data.pictures import middle_frame, small_jpeg
from bundle_tools.tables import write_table


def templates_in(*folders: Path) -> jinja2.Environment:
    """Return the templates of folders, the first of which counts; undefined names in them are errors.

    A bundle may bring its own, so nothing in a template can reach beyond what it is given.
    """
    environment = ImmutableSandboxedEnvironment(
        loader=jinja2.FileSystemLoader(folders),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        # Not HTML: each kind of text has its own filter.
        autoescape=False,
    )
    environment.filters["cell"] = lambda text: str(text).replace("|", "\\|")
    # Jinja's own filter, meant for HTML, also writes quotation marks as \u0027.
    environment.filters["tojson"] = lambda text: json.dumps(text, ensure_ascii=False)
    environment.filters["flow"] = in_one_line
    return environment


def in_one_line(value: Any) -> str:  # noqa: ANN401 - whatever YAML can hold
    """Write a value as YAML in one line."""
    text: str = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=math.inf, allow_unicode=True)
    # YAML marks the end of a value that is neither a list nor a mapping.
    return text.strip().removesuffix("...").strip()


def write_transcripts(folder: Path, transcripts: Mapping[str, str]) -> None:
    """Write ``transcripts.json`` sorted by id, so that the order does not distinguish copies from clips."""
    text = json.dumps(dict(sorted(transcripts.items())), indent=1, ensure_ascii=False)
    (folder / "transcripts.json").write_text(text + "\n", encoding="utf-8")


def by_clip(head: Mapping[str, object], clips: Mapping[str, object]) -> str:
    """Return the text of a JSON file with one clip per line."""
    entries = [f' "{clip_id}": {json.dumps(entry)}' for clip_id, entry in clips.items()]
    return json.dumps(head)[:-1] + ', "clips": {\n' + ",\n".join(entries) + "\n}}\n"


def enter(path: Path, values: Mapping[str, Any]) -> bool:
    """Set keys of a settings file.

    `values`: values by key; a key in an existing section includes its name, as in ``report.key_frames``. Returns
    whether the file has changed. Raises BundleError if a section is missing, or the file cannot be read.
    """
    try:
        before = text = path.read_text("utf-8")
        for key, value in values.items():
            text = _entered(text, key, value)
    except (OSError, ValueError, yaml.YAMLError) as error:
        keys = ", ".join(values)
        raise BundleError(f"{path}: {keys} could not be written ({error}). Write the line yourself.") from error
    if text == before:
        return False
    write_text(path, text)
    return True


def _entered(text: str, key: str, value: Any) -> str:  # noqa: ANN401 - whatever YAML can hold
    *sections, name = key.split(".")
    node, known = yaml.compose(text), yaml.safe_load(text)
    for section in sections:
        pair = _pair(node, section)
        node, known = (pair[1], known[section]) if pair else (None, None)
    if not isinstance(node, yaml.MappingNode):
        raise ValueError(f"expected a mapping{''.join(f' {section}' for section in sections)}; found none")
    if name in known and known[name] == value:
        return text
    written, pair = in_one_line(value), _pair(node, name)
    if pair is not None:
        known_key, old = pair
        # A block ends where the next key begins, a plain value after its last letter.
        behind = "\n" if old.end_mark.column == 0 else ""
        return f"{text[: known_key.end_mark.index]}: {written}{behind}{text[old.end_mark.index :]}"
    if node.flow_style:
        end = node.end_mark.index - 1
        return f"{text[:end].rstrip()}{', ' if node.value else ''}{name}: {written}{text[end:]}"
    column = node.start_mark.column
    end = node.end_mark.index
    head = text[:end] if text[:end].endswith("\n") or not end else text[:end] + "\n"
    return f"{head}{' ' * column}{name}: {written}\n{text[end:]}"


def _pair(node: yaml.Node | None, name: str) -> tuple[yaml.Node, yaml.Node] | None:
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return next((pair for pair in pairs if pair[0].value == name), None)


KEY_FRAMES, KEY_FRAMES_LIST = "key_frames", "key_frames.csv"
KEY_FRAME_COLUMNS = ("clip_id", "file", "time_s", "sha256")


def write_key_frames(clips: Iterable[tuple[str, Path]], folder: Path, progress: Progress | None = None) -> int:
    """Write `folder/key_frames.csv` and `folder/key_frames/<clip_id>.jpg`, and remove earlier pictures.

    `clips`: (clip id, video) of every clip. Returns bytes of all pictures. Raises BundleError with every clip that
    cannot be decoded; nothing is written then.
    """
    videos = sorted(clips)
    pictures: dict[str, tuple[bytes, float]] = {}
    broken = []
    for done, (clip_id, path) in enumerate(videos, start=1):
        try:
            frame, time_s = middle_frame(path.read_bytes())
            pictures[clip_id] = small_jpeg(frame), time_s
        except (OSError, FFmpegError, Unusable, IndexError, ValueError) as error:
            broken.append(f"{path.name}: {type(error).__name__}")
        if progress is not None:
            progress(done, len(videos))
    if broken:
        raise BundleError(f"{len(broken)} clips cannot be decoded: {', '.join(broken)}. Replace them.")
    (folder / KEY_FRAMES).mkdir(parents=True, exist_ok=True)
    for old in (folder / KEY_FRAMES).glob("*.jpg"):
        old.unlink()
    rows = []
    for clip_id, (data, time_s) in pictures.items():
        file = f"{KEY_FRAMES}/{clip_id}.jpg"
        (folder / file).write_bytes(data)
        rows.append((clip_id, file, f"{time_s:.3f}", hashlib.sha256(data).hexdigest()))
    write_table(folder / KEY_FRAMES_LIST, KEY_FRAME_COLUMNS, rows)
    return sum(len(data) for data, _ in pictures.values())
