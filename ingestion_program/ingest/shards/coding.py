"""Works and answers as JSON: dataclasses by name, exact numbers, and nothing that runs code when it is read."""

from __future__ import annotations

from base64 import b64decode, b64encode
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from ingest.clips.copies import Copy
from ingest.confined.processor import Processor
from ingest.errors import Problem
from ingest.lanes.asker import Answer, Asking, Loaded, Pass, Work
from ingest.media.altered.alteration import Alteration, Slow
from ingest.media.altered.exchange import Exchange, Part
from ingest.media.altered.jitter import Jitter
from ingest.media.altered.material import Material
from ingest.media.altered.region import Box, Cells, Outside
from ingest.media.clip import ClipSource
from ingest.model.asking import Told
from model_process.sandbox import Isolated

KIND = "$"
"""Key of a dataclass's name."""
KINDS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        *(Work, Asking, Pass, ClipSource, Alteration, Slow, Exchange, Part, Jitter, Box, Cells, Outside),
        *(Answer, Told, Problem, Loaded, Isolated, Processor, Copy),
    )
}
_SHARED = (Material, Exchange)
"""Written once: the calls of a clip share what is read from its file, and an exchange is long."""


class Encoder:
    """Makes values plain; paths become relative to a folder, and each file's hash is noted."""

    def __init__(self, folder: Path, hashes: dict[str, str]) -> None:
        """Take the hashes of files that the values may name without their hash."""
        self._folder, self._hashes = folder, hashes
        self._seen: dict[int, int] = {}
        self.files: set[str] = set()
        """Each file that the values name."""

    def plain(self, value: object) -> Any:  # noqa: ANN401 - what JSON can represent
        """Return a value in a form that JSON can represent."""
        if isinstance(value, _SHARED):
            if id(value) in self._seen:
                return {KIND: "same", "as": self._seen[id(value)]}
            self._seen[id(value)] = len(self._seen)
        if isinstance(value, Material):
            return {KIND: "Material", "path": self._name(value.path)}
        if isinstance(value, Path):
            return {KIND: "Path", "path": self._name(value)}
        if isinstance(value, bytes):
            return {KIND: "bytes", "base64": b64encode(value).decode()}
        if is_dataclass(value):
            if isinstance(value, ClipSource | Exchange):
                self._hashes[self._name(value.path)] = value.sha256
            return {KIND: type(value).__name__, **{f.name: self.plain(getattr(value, f.name)) for f in fields(value)}}
        if isinstance(value, dict):
            return {key: self.plain(item) for key, item in value.items()}
        return [self.plain(item) for item in value] if isinstance(value, list | tuple) else value

    def listed(self) -> dict[str, str]:
        """Return the hash of each file that was named."""
        return {name: self._hashes[name] for name in sorted(self.files)}

    def _name(self, path: Path) -> str:
        name = path.relative_to(self._folder).as_posix()
        self.files.add(name)
        return name


def plain(value: object) -> Any:  # noqa: ANN401 - what JSON can represent
    """Return a value without paths in a form that JSON can represent."""
    return Encoder(Path(), {}).plain(value)


def built(value: Any, folder: Path = Path(), met: list[Any] | None = None) -> Any:  # noqa: ANN401 - from JSON
    """Return what was made plain; paths lie below a folder, and lists become tuples.

    Raises
    ------
    KeyError, TypeError, ValueError
        When it was not made by `plain`.
    """
    met = [] if met is None else met
    if isinstance(value, list):
        return tuple(built(item, folder, met) for item in value)
    if not isinstance(value, dict):
        return value
    kind = value.get(KIND)
    if not isinstance(kind, str):
        return {key: built(item, folder, met) for key, item in value.items()}
    if kind == "same":
        return met[value["as"]]
    if kind == "bytes":
        return b64decode(value["base64"])
    if kind in {"Path", "Material"}:
        path = folder / value["path"]
        made: Any = path if kind == "Path" else Material(path)
    else:
        made = KINDS[kind](**{key: built(item, folder, met) for key, item in value.items() if key != KIND})
    if isinstance(made, _SHARED):
        met.append(made)
    return made
