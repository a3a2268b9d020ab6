"""Templates of Markdown, YAML and Python, filled with untrusted texts."""

import json
import math
from pathlib import Path
from typing import Any

import jinja2
import yaml
from jinja2.sandbox import ImmutableSandboxedEnvironment


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
