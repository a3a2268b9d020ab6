"""Pages as packed, with the figures of the zip: its dates and image may differ from the folder's."""

from collections.abc import Iterator
from pathlib import Path

import yaml

from bundle_tools.challenge.build.contents import KIT_NAME
from bundle_tools.challenge.figures.marks import fill, strip
from bundle_tools.challenge.figures.pages import Figures
from bundle_tools.codabench.archive import Entry
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.version1 import as_version2, is_version1


def current_pages(root: Path, text: str, entries: list[Entry]) -> Iterator[Entry]:
    """Yield the entries with current figures in every Markdown file; those of the kit lose their marks.

    `text`: `competition.yaml` as packed.
    """
    content = yaml.safe_load(text)
    figures = Figures(Draft(root, as_version2(content) if is_version1(content) else content, {}, folder=True))
    for name, file in entries:
        if name.endswith(".md") and isinstance(file, Path):
            before = file.read_bytes().decode("utf-8", "surrogateescape")
            now = fill(before, figures.values, figures.blocks).text
            if name.startswith(f"{KIT_NAME}/"):
                # In the kit, Markdown is read as plain text.
                now = strip(now)
            yield name, file if now == before else now.encode("utf-8", "surrogateescape")
        else:
            yield name, file
