"""The two names of each clip and target."""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bundle_tools.errors import BundleError

HEADER = ["clip_id", "name"]


@dataclass(frozen=True)
class Names:
    """Names used here, and those of 2017."""

    clips: dict[str, str]
    """Clip id to older name."""
    targets: dict[str, str]
    """Target to older name."""

    def reversed(self) -> "Names":
        """Return the reverse mapping: older name to ours."""
        clips, targets = ({old: own for own, old in table.items()} for table in (self.clips, self.targets))
        return Names(clips, targets)


def read_names(aliases: Path | None, targets: list[str]) -> Names:
    """Read the names of clips from a table `clip_id,name`, those of targets from `older=own`.

    Raises BundleError when a table or a pair is malformed, or a name appears twice.
    """
    clips: dict[str, str] = {}
    if aliases is not None:
        try:
            with aliases.open(encoding="utf-8-sig", newline="") as file:
                rows = [row for row in csv.reader(file, strict=True) if row]
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise BundleError(f"--aliases {aliases}: expected a table in UTF-8; found {error}.") from None
        if rows[:1] != [HEADER] or any(len(row) != len(HEADER) for row in rows):
            raise BundleError(f"--aliases {aliases}: expected {','.join(HEADER)} and two cells in each row.")
        clips = dict(tuple(row) for row in rows[1:])  # type: ignore[misc] # two cells each
        if len(clips) < len(rows) - 1 or len(set(clips.values())) < len(clips):
            raise BundleError(f"--aliases {aliases}: expected every clip and every name once.")
    pairs = [pair.split("=") for pair in targets]
    if any(len(pair) != 2 or not all(pair) for pair in pairs):
        raise BundleError("--target: expected OLDER=OWN, such as neuroticism=emotional_stability.")
    named = [(f"older name {old}", f"own name {own}") for old, own in pairs]
    doubled = sorted({name for side in zip(*named, strict=True) for name in side if side.count(name) > 1})
    if doubled:
        raise BundleError(f"--target: expected every name once; found several times: {', '.join(doubled)}.")
    return Names(clips, {own: old for old, own in pairs})


def misfits(names: Names, targets: Iterable[str], clips: Mapping[str, str]) -> list[str]:
    """Find what would silently be lost: unknown names of targets, and names that would become equal.

    `names`: from the names in the files to the names to be written. `clips`: names in the files -> names to be written.
    """
    renamed = {target: names.targets.get(target, target) for target in targets}
    wrong = [
        f"--target: expected one of {', '.join(renamed)}; found {unknown}."
        for unknown in sorted(names.targets.keys() - renamed.keys())
    ]
    for what, table in (("targets", renamed), ("clips", clips)):
        sources: dict[str, list[str]] = {}
        for source, new in table.items():
            sources.setdefault(new, []).append(source)
        wrong += [
            f"{' and '.join(found)}: these {what} would share the name {new}. Give them different names."
            for new, found in sources.items()
            if len(found) > 1
        ]
    return wrong
