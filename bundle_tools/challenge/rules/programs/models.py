"""Rules about the example solutions: the starting kit's checks of a submission."""

import sys
from collections.abc import Iterator
from pathlib import Path

from bundle_tools.codabench.rules.dataset import find, opened, uses_of
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.rules.findings import Finding

KIT = Path(__file__).resolve().parents[4] / "starting_kit"
"""The starting kit of this checkout, which has the checks of a source."""
REFUSED = "Ingestion refuses it."
CODES = {
    "syntax_error": "solution-syntax",
    "class_missing": "solution-contract",
    "method_missing": "solution-contract",
    "signature_wrong": "solution-contract",
}
"""The starting kit's code -> ours. Which packages the image has, it knows only of this checkout's own."""


def check_models(draft: Draft) -> Iterator[Finding]:
    """Find solutions that our ingestion program would refuse; another one has other rules."""
    if str(KIT) not in sys.path:
        sys.path.append(str(KIT))
    from sources import LARGEST_SOURCE, check_sources  # noqa: PLC0415 - the path is known only now

    programs = opened(draft, "ingestion_program").values()
    if not any("ingest/__init__.py" in program.names() for program in programs):
        return
    for place, path in uses_of(draft, "path"):
        files = find(draft, path)
        if files is None:
            continue
        where, names = draft.at(*place), files.names()
        if "model.py" not in names:
            what = "model.py is missing at the root of a solution."
            yield Finding("solution-model", "error", where, what, REFUSED, "Put model.py at its root.")
            continue
        sources = [name for name in names if name.endswith(".py") and files.size(name) <= LARGEST_SOURCE]
        for found in check_sources(names, {name: files.read(name) for name in sources}):
            if found.level == "error" and found.code in CODES:
                what = f"{found.where} of a solution: {found.found}."
                fix = f"{found.fix[:1].upper()}{found.fix[1:]}."
                yield Finding(CODES[found.code], "error", where, what, REFUSED, fix)
