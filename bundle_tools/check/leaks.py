"""Rules about secrets: no file of the reference data in anything that participants or their models can open."""

from collections.abc import Iterator
from pathlib import PurePosixPath

import yaml

from bundle_tools.check.dataset import Dataset, find
from bundle_tools.check.document import Draft
from bundle_tools.check.findings import Finding

PUBLIC = ("public_data", "starting_kit")


def check_leaks(draft: Draft) -> Iterator[Finding]:
    """Compare the files of all reference data with everything that is open, by content."""
    secrets: dict[str, str] = {}
    for _, task in draft.entries("tasks"):
        reference = find(draft, task.get("reference_data"))
        if reference is not None and not _is_public(reference):
            secrets |= {digest: f"{task['reference_data']}{name}" for digest, name in reference.hashes().items()}
    if not secrets:
        return
    places = [(f"phases {i} {key}", phase.get(key)) for i, phase in draft.entries("phases") for key in PUBLIC]
    places += [(f"solutions {i}", solution.get("path")) for i, solution in draft.entries("solutions")]
    for i, task in draft.entries("tasks"):
        places += [(f"tasks {i} {key}", task.get(key)) for key in ("input_data", "ingestion_program")]
    seen: set[str] = set()
    for _, value in places:
        files = find(draft, value)
        if files is None or str(value) in seen:
            continue
        seen.add(str(value))
        for digest, name in files.hashes().items():
            if digest in secrets:
                what = f"{PurePosixPath(str(value)) / name} is the same file as {secrets[digest]}."
                effect = "Whoever opens it knows the answers."
                yield Finding("leak", "error", str(value), what, effect, "Delete it there.")


def _is_public(reference: Dataset) -> bool:
    """Tell whether the task's own report shows the true values, so that nothing in it is secret."""
    if "task.yaml" not in reference.names():
        return False
    try:
        settings = yaml.safe_load(reference.text("task.yaml"))
        return settings["report"]["truth"] is True
    except (yaml.YAMLError, ValueError, RecursionError, KeyError, TypeError):
        return False
