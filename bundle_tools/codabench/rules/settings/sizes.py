"""Rules about sizes: the organiser's storage, and names that Codabench cuts."""

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from bundle_tools.codabench.rules.dataset import uses_of
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.rules.findings import Finding, shown

# Codabench keeps the bundle and a copy of every data set made from it; both count against one user.
QUOTA_BYTES = 15_000_000_000
LONGEST_NAME = 35


def check_names(draft: Draft) -> Iterator[Finding]:
    """Find names of data sets that Codabench cuts."""
    for place, value in uses_of(draft):
        name = PurePosixPath(value).name
        if len(name) > LONGEST_NAME and draft.inside(value) is not None:
            what = f"{place[-1]}: the name {shown(name)} has {len(name)} characters."
            effect = f"Codabench cuts it to {LONGEST_NAME}."
            yield Finding("path-name", "note", draft.at(*place), what, effect, "Use a shorter name.")


def sizes_of_folder(draft: Draft) -> dict[str, int]:
    """Return the size of every file that a folder's bundle uses: an upper bound of their zipped size."""
    sizes = {}
    for value in {value for _, value in uses_of(draft)}:
        path = draft.inside(value)
        if path is None or path.resolve() == draft.root.resolve():
            continue
        for file in path.rglob("*") if path.is_dir() else [path]:
            if file.is_file():
                sizes[file.relative_to(draft.root).as_posix()] = file.stat().st_size
    return sizes


def check_quota(draft: Draft, sizes: Mapping[str, int], where: Path, packed: int | None = None) -> Iterator[Finding]:
    """Compare the bundle and each use of each data set with a user's quota.

    `sizes`: name relative to the root -> bytes, zipped if known. `packed`: bytes of the bundle's zip; None for a
    folder, where all sizes are estimates.
    """
    uses: list[int] = []
    for _, value in uses_of(draft):
        name = str(PurePosixPath(value))
        folder = f"{name}/"
        uses.append(sum(size for file, size in sizes.items() if file == name or file.startswith(folder)))
    total = (sum(sizes.values()) if packed is None else packed) + sum(uses)
    if total <= QUOTA_BYTES:
        return
    what = f"The bundle and its {len(uses)} programs and data sets, each use counted, take {total / 1e9:.1f} GB."
    effect = f"Codabench refuses uploads beyond a user's quota, by default {QUOTA_BYTES / 1e9:.0f} GB."
    fix = "Upload large data separately and name their key."
    yield Finding("zip-quota", "warning" if packed is None else "error", where.name, what, effect, fix)
