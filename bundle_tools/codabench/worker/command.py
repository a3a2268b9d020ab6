"""From a program's metadata file to the arguments that the worker runs."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bundle_tools.codabench.bounded_yaml import load_bounded
from bundle_tools.codabench.worker import CannotStart

METADATA_NAMES = ("metadata.yaml", "metadata")

Role = Literal["ingestion", "submission", "scoring"]
"""Which container of which job a command is for."""


@dataclass(frozen=True)
class Metadata:
    """How to run a program, from the root of its folder."""

    present: bool
    """Whether there is a `metadata.yaml` or a `metadata`."""
    command: str | None
    """The command as written; None if missing or not a text."""
    problem: str | None
    """Why there is no command, in words."""


def read_metadata(program: Path) -> Metadata:
    """Read `metadata.yaml`, else `metadata`, at the root of a program."""
    for name in METADATA_NAMES:
        path = program / name
        if path.is_file():
            return parse_metadata(name, path.read_text(encoding="utf-8", errors="replace"))
    found = ", ".join(sorted(path.name for path in program.iterdir())[:5]) or "nothing"
    return Metadata(False, None, f"no metadata.yaml at the root; found {found}")


def parse_metadata(name: str, text: str) -> Metadata:
    """Find the command in the text of a metadata file."""
    try:
        content = load_bounded(text)
    except ValueError as error:
        return Metadata(True, None, f"{name} is not YAML: {error}")
    command = content.get("command") if isinstance(content, dict) else None
    if isinstance(command, str):
        return Metadata(True, command, None)
    return Metadata(True, None, f"{name} has no `command` that is one text")


def arguments(command: str, role: Role) -> list[str]:
    """Replace the variables and split like a shell, but without one: `>`, `|`, `&&` stay arguments.

    The worker replaces text in this order and knows no word boundaries: in an ingestion command, "$input_data" becomes
    "/app/input_data_data".

    Raises
    ------
    CannotStart
        When there is nothing to run, or a quote is not closed.
    """
    substitutions = {
        "$input": "/app/input_data" if role == "ingestion" else "/app/input",
        "$output": "/app/output",
        "$program": "/app/program",
        "$ingestion_program": "/app/program",
        "$hidden": "/app/input/ref",
        "$shared": "/app/shared",
        "$submission_program": "/app/ingested_program",
        "$tmp": "/app/output",
        "$predictions": "/app/input/res" if role == "scoring" else "/app/output",
    }
    for variable, value in substitutions.items():
        command = command.replace(variable, value)
    try:
        split = shlex.split(command)
    except ValueError as error:
        raise CannotStart(f"the command cannot be split into arguments: {error}") from error
    if not split:
        raise CannotStart("the command is empty")
    return split
