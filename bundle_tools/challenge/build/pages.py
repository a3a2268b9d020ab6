"""Pages as packed, with the figures of the zip: its dates and image may differ from the folder's."""

from collections.abc import Iterator
from pathlib import Path

import yaml

from bundle_tools.challenge.build.contents import KIT_NAME
from bundle_tools.challenge.pages.write import pages_of
from bundle_tools.codabench.archive import Entry
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.version1 import as_version2, is_version1


def current_pages(root: Path, text: str, entries: list[Entry]) -> Iterator[Entry]:
    """Yield the entries with current pages, but for those edited by hand. Those of the kit have no last line of ours.

    `text`: `competition.yaml` as packed.
    """
    content = yaml.safe_load(text)
    draft = Draft(root, as_version2(content) if is_version1(content) else content, {}, folder=True)
    pages = {page.path: page for page in pages_of(draft)}
    for name, file in entries:
        in_kit = name.startswith(f"{KIT_NAME}/")
        if in_kit and name.endswith(".md.j2"):
            continue
        page = pages.get(file) if isinstance(file, Path) else None
        if page is None or page.problem or page.before is None:
            yield name, file
        elif in_kit:
            yield name, (page.before if page.is_edited else page.text).encode("utf-8", "surrogateescape")
        else:
            yield name, file if page.is_edited else page.content.encode("utf-8", "surrogateescape")
