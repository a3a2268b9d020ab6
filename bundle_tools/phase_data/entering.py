"""Set one key of a settings file and leave the rest unchanged, comments included."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from bundle_tools.errors import BundleError
from bundle_tools.phase_data.texts import in_one_line


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
    draft = path.with_name(path.name + ".part")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)
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
        told, old = pair
        # A block ends where the next key begins, a plain value after its last letter.
        behind = "\n" if old.end_mark.column == 0 else ""
        return f"{text[: told.end_mark.index]}: {written}{behind}{text[old.end_mark.index :]}"
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
