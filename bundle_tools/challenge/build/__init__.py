"""The zip to upload, made from the folders of the bundle: checked, dated, complete and reproducible.

`contents` says what goes in and brings pages up to date, `document` edits `competition.yaml`, `wheels` and `key` make
what no folder contains; `version1` writes everything in the format of CodaLab's first version.
"""

import shutil
import tempfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from bundle_tools.challenge.build.contents import KIT, TOP_LEVEL, current_pages, downloads, entries
from bundle_tools.challenge.check import check
from bundle_tools.codabench.archive import Entry, write_deterministic, zip_folders
from bundle_tools.codabench.build import (
    EXPECTED_FINDINGS,
    key_entries,
    point_to_zips,
    set_image,
    shift_dates,
    wheel_entries,
    with_stand_in,
)
from bundle_tools.codabench.build_version1 import version1_entries
from bundle_tools.codabench.rules.findings import Finding
from bundle_tools.console import progress_bar, say
from bundle_tools.errors import BundleError
from bundle_tools.whole import replaced

__all__ = ["KIT", "TOP_LEVEL", "Options", "build"]


@dataclass(frozen=True)
class Options:
    """The options of `bundle build`."""

    out: Path
    start: datetime | None = None
    """When the first phase starts, UTC; all other dates move with it. None keeps the dates of competition.yaml."""
    image: str | None = None
    """New `docker_image`; None keeps it."""
    training: Path | None = None
    """A labelled set that replaces public_data/; None packs public_data/ itself."""
    wheels: bool = False
    key: bool = True
    """Whether both programs get the seal key."""
    new_key: bool = False
    """Whether the seal key kept in private/ is replaced."""
    version1: bool = False
    """Whether the zip has the format of CodaLab's first version."""
    stand_in: str | None = None
    """Name of a phase whose data are not packed; None packs those of all phases."""


def build(root: Path, options: Options) -> list[Finding]:
    """Write the zip and check it.

    Returns warnings and notes about the zip. Raises BundleError when the folders or the zip have errors; then no zip is
    left.
    """
    _check_out(root, options.out)
    _refuse(root, check(root), "Nothing was built.")
    with tempfile.TemporaryDirectory(prefix="bundle-build-") as folder:
        scratch = Path(folder)
        packed = list(_entries(root, options, scratch))
        # Written elsewhere first: a zip that fails its own check never reaches --out.
        finished = scratch / "bundle.zip"
        write_deterministic(finished, packed)
        with progress_bar("clips of the zip") as progress:
            findings = check(finished, progress=progress)
        if options.stand_in:
            findings = [finding for finding in findings if finding.code not in EXPECTED_FINDINGS]
        _refuse(options.out, findings, "The zip was deleted.")
        _print_sizes(packed, finished)
        with replaced(options.out) as unfinished:
            shutil.copyfile(finished, unfinished)
    return findings


def _entries(root: Path, options: Options, scratch: Path) -> list[Entry]:
    text = (root / "competition.yaml").read_text(encoding="utf-8-sig")
    if options.start:
        text = shift_dates(text, options.start)
    if options.image:
        text = set_image(text, options.image)
    loose = list(current_pages(root, text, list(entries(root, text, options.training))))
    if options.stand_in:
        text, loose = with_stand_in(text, loose, options.stand_in)
    if options.key:
        loose += key_entries(root, fresh=options.new_key)
    if options.wheels:
        loose += wheel_entries(root)
    # An unpacked bundle may already contain these files; the new ones replace them.
    loose = list(dict(loose).items())
    if options.version1:
        return version1_entries(text, loose, scratch)
    zipped, packed = zip_folders(downloads(text), loose, scratch)
    return [("competition.yaml", point_to_zips(text, zipped).encode()), *packed]


def _check_out(root: Path, out: Path) -> None:
    """Refuse an output path where the zip would overwrite something else or be packed into the next zip."""
    if out.is_dir() or out.suffix != ".zip":
        raise BundleError(f"--out {out}: expected the name of a zip, such as dist/bundle.zip.")
    inside = out.resolve().relative_to(root).parts if out.resolve().is_relative_to(root) else ()
    if inside and inside[0] in TOP_LEVEL:
        raise BundleError(f"--out {out}: is in a folder that is packed. Choose another place, such as dist/bundle.zip.")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=out.parent).close()
    except OSError as error:
        raise BundleError(f"--out {out}: cannot be written ({error.strerror}). Choose another place.") from error


def _refuse(where: Path, findings: list[Finding], outcome: str) -> None:
    errors = [finding for finding in findings if finding.severity == "error"]
    for finding in errors:
        for line in finding.lines():
            say(line)
    if errors:
        raise BundleError(f"{where}: {len(errors)} errors, listed above. {outcome} Correct them and build again.")


def _print_sizes(packed: list[Entry], archive: Path) -> None:
    sizes: dict[str, int] = {}
    for name, content in packed:
        top = name.partition("/")[0]
        sizes[top] = sizes.get(top, 0) + (len(content) if isinstance(content, bytes) else content.stat().st_size)
    for top, size in sizes.items():
        say(f"  {top:<18} {size / 1e6:8.2f} MB")
    say(f"  {'zip':<18} {archive.stat().st_size / 1e6:8.2f} MB")
    say("Your quota on the server counts the zip, plus every program and data set once for each task that uses it.")
