"""Rule about files that only stand for others, such as Git LFS pointers: nothing can be read from them."""

from collections.abc import Iterator

from bundle_tools.challenge.rules import finding
from bundle_tools.codabench.rules.dataset import opened
from bundle_tools.codabench.rules.document import ParsedBundle
from bundle_tools.codabench.rules.findings import Finding
from bundle_tools.untrusted import START, placeholder

SEARCHED = ("input_data", "reference_data", "public_data", "starting_kit", "path")
"""Keys of data, kit and solutions."""


def check_placeholders(bundle: ParsedBundle) -> Iterator[Finding]:
    """Find placeholders among data, kit and solutions: each kind once per folder."""
    for where, data in opened(bundle, *SEARCHED).items():
        kinds: dict[tuple[str, str], list[str]] = {}
        for name in data.names(junk=True):
            if (kind := placeholder(name, data.read(name, START))) is not None:
                kinds.setdefault(kind, []).append(name)
        for (what, fix), names in kinds.items():
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            yield finding("file-placeholder", where, f"{names[0]}{more}: {what}.", fix=f"{fix.capitalize()}.")
