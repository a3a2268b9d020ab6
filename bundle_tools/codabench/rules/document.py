"""`competition.yaml` with the line of every value, as input of the rules."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from bundle_tools.codabench import keys
from bundle_tools.codabench.archive import leads_out
from bundle_tools.codabench.bounded_yaml import LARGEST_BYTES, NOT_YAML, YamlBombError, check_bounds
from bundle_tools.codabench.keys import KeyMistake, KeyPath, Keys, PhaseKeys, TaskKeys
from bundle_tools.codabench.rules import clock
from bundle_tools.codabench.rules.findings import CRASHES, REFUSED, Finding, shown
from bundle_tools.console import Progress

FILE = "competition.yaml"


@dataclass(frozen=True)
class ParsedBundle:
    """A bundle that may contain any mistake."""

    root: Path
    """The folder that holds `competition.yaml`."""
    content: dict[str, Any]
    """The parsed file; its values may have any type."""
    lines: dict[KeyPath, int]
    """Place of a value -> its line, from 1."""
    folder: bool
    """Whether the bundle is a folder, not a zip."""
    now: datetime = field(default_factory=clock.utc_now)
    """The present, UTC without a zone: dates are compared with it."""
    progress: Progress | None = None
    """Receives the number of decoded clips."""
    trusted: bool = False
    """Whether the user has said that its programs may run here."""
    opened: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Cache of `dataset.find`: most rules read the same few folders."""

    @property
    def keys(self) -> Keys:
        """The parsed keys, see `keys.read`."""
        return self._read[0]

    @property
    def mistakes(self) -> list[KeyMistake]:
        """The mistakes in its keys and values."""
        return self._read[1]

    @cached_property
    def _read(self) -> tuple[Keys, list[KeyMistake]]:
        return keys.read(Keys, self.content)

    def at(self, *path: str | int) -> str:
        """Return the file and line of a value, or of the nearest value around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return f"{FILE}:{self.lines[path]}" if path in self.lines else FILE

    def inside(self, value: object) -> Path | None:
        """Return an existing file or folder of the bundle; None for any other value, and for a link out of it."""
        if not isinstance(value, str) or not value.strip() or value.startswith("/") or ".." in value.split("/"):
            return None
        path = self.root / value
        try:
            return path if path.exists() and not leads_out(path, self.root) else None
        except (OSError, ValueError):
            # A name that is too long, or contains a NUL.
            return None

    def tasks_of(self, phase: PhaseKeys) -> list[TaskKeys]:
        """Return the tasks that a phase names."""
        return [task for task in self.keys.tasks if task.index in phase.tasks]


def read(root: Path, *, folder: bool, now: datetime | None = None) -> tuple[ParsedBundle | None, list[Finding]]:
    """Read `competition.yaml`; if it is unusable, return findings and no draft."""
    path = root / FILE
    if not path.is_file():
        others = sorted(str(p.relative_to(root)) for p in [*root.glob("*.y*ml"), *root.glob("*/competition.y*ml")])
        instead = f"found {', '.join(others[:3])}" if others else "found none"
        what = f"Expected {FILE} at the root, with exactly this name; {instead}."
        return None, [_fatal("yaml-missing", what, "Rename or move it; zip the files, not their folder.")]
    if path.stat().st_size > LARGEST_BYTES:
        return None, [too_large(path.stat().st_size)]
    lines: dict[KeyPath, int] = {}
    findings: list[Finding] = []
    node = None
    try:
        loader = yaml.SafeLoader(path.read_bytes().decode("utf-8-sig"))
        node = loader.get_single_node()
        content = None
        if node is not None:
            check_bounds(node)
            # Walked first, because building the values writes merged keys into the nodes.
            findings += _walk(node, (), lines, set())
            content = loader.construct_document(node)
    except UnicodeDecodeError as error:
        return None, [_fatal("yaml-encoding", f"Expected UTF-8; found {error.reason}.", "Save it as UTF-8.")]
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        what = f"Expected plain YAML; found: {error.problem}."
        return None, [_fatal("yaml-syntax", what, "Correct this line; no tabs, no tags.", line)]
    except YamlBombError as error:
        return None, [_fatal("yaml-bomb", f"{str(error).capitalize()}.", "Write it out, without aliases.")]
    except NOT_YAML as error:
        return None, [_unbuildable(node, error)]
    if not isinstance(content, dict):
        what = f"Expected keys and values; found {type(content).__name__}."
        return None, [_fatal("yaml-mapping", what, "Start from the competition.yaml of this repository.")]
    return ParsedBundle(root, content, lines, folder, now or clock.utc_now()), findings


def _unbuildable(root: yaml.Node | None, error: Exception) -> Finding:
    """Name the value that cannot be read: a date like 2001-99-99, or one that does not match its tag."""
    waiting, seen = [root] if root is not None else [], set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.ScalarNode):
            try:
                yaml.SafeLoader("").construct_document(node)
            except NOT_YAML as reason:
                kind = str(node.tag).rpartition(":")[2]
                what = f"Expected plain YAML; found {shown(node.value)}, which is no {kind}: {reason}."
                fix = "Correct it, or write it in quotes."
                return _fatal("yaml-syntax", what, fix, f":{node.start_mark.line + 1}")
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif isinstance(node, yaml.MappingNode):
            waiting += [part for pair in node.value for part in pair]
    return _fatal("yaml-syntax", f"Expected plain YAML; found: {type(error).__name__}.", "Simplify it.")


def too_large(size: int) -> Finding:
    """Refuse a `competition.yaml` of this many bytes."""
    what = f"Expected at most {LARGEST_BYTES} bytes; found {size}."
    return _fatal("yaml-size", what, "Keep texts in pages.")


def _walk(node: yaml.Node, path: KeyPath, lines: dict[KeyPath, int], seen: set[int]) -> Iterator[Finding]:
    lines.setdefault(path, node.start_mark.line + 1)
    if id(node) in seen:
        # An alias: its lines are known from its definition, and walking it again could take forever.
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for position, child in enumerate(node.value):
            yield from _walk(child, (*path, position), lines, seen)
    elif isinstance(node, yaml.MappingNode):
        keys = set()
        for key, child in node.value:
            name = str(key.value) if isinstance(key, yaml.ScalarNode) else "?"
            if name in keys and name != "<<":
                yield Finding(
                    "yaml-duplicate-key",
                    "warning",
                    f"{FILE}:{key.start_mark.line + 1}",
                    f"The key {name!r} appears twice.",
                    "Codabench silently keeps the last one.",
                    "Delete one.",
                )
            keys.add(name)
            lines[(*path, name)] = key.start_mark.line + 1
            yield from _walk(child, (*path, name), lines, seen)


def _fatal(code: str, what: str, fix: str, line: str = "") -> Finding:
    effects = {
        "yaml-mapping": CRASHES,
        "yaml-size": "Codabench may read it, slowly; this check skips its content.",
        "yaml-bomb": "The unpacker would run out of memory or time.",
    }
    effect = effects.get(code, REFUSED)
    return Finding(code, "error", FILE + line, what, effect, fix)
