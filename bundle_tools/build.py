"""The zip to upload, made from the folders of the bundle: checked, dated, complete, equal bytes for equal input."""

import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath

from bundle_tools.archive import write_deterministic
from bundle_tools.check import check
from bundle_tools.check.archive import JUNK
from bundle_tools.check.findings import Finding
from bundle_tools.console import progress_bar, say
from bundle_tools.errors import BundleError

# Everything else in the repository stays at home: tests, docs, benchmarks, tools.
TOP_LEVEL = (
    *("competition.yaml", "logo.png", "pages", "ingestion_program", "scoring_program", "input_data", "reference_data"),
    *("public_data", "solutions", "starting_kit"),
)
# What a participant needs to run the practice phase at home, beside starting_kit/ itself.
KIT = ("ingestion_program", "scoring_program", "input_data/practice", "reference_data/practice", "solutions")
DATE = re.compile(r'^(\s+(?:start|end): )"([^"]+)"', re.MULTILINE)

Entry = tuple[str, Path | bytes]


@dataclass(frozen=True)
class Options:
    """What `bundle build` was asked for."""

    out: Path
    """The zip to write."""
    start: datetime | None
    """When the first phase starts, UTC; all other dates move with it. None keeps the dates of competition.yaml."""
    training_clips: int
    """Clips of the public training set; 0 packs the committed sample in public_data/."""
    workers: int
    """Processes that make the training set."""


def build(root: Path, options: Options) -> list[Finding]:
    """Write the zip and check it.

    Returns
    -------
    list of Finding
        Warnings and notes about the zip.

    Raises
    ------
    BundleError
        When the folders or the zip have errors; then no zip is left.
    """
    _refuse(root, check(root), "Nothing was built.")
    training = _training(root, options) if options.training_clips else None
    entries = list(_entries(root, options.start, training))
    with tempfile.TemporaryDirectory(prefix="bundle-build-") as folder:
        # Written elsewhere first: a zip that fails its own check never reaches --out.
        finished = Path(folder) / "bundle.zip"
        write_deterministic(finished, entries)
        findings = check(finished)
        _refuse(options.out, findings, "The zip was not kept.")
        _print_sizes(entries, finished)
        options.out.parent.mkdir(parents=True, exist_ok=True)
        unfinished = options.out.with_name(options.out.name + ".part")
        shutil.copyfile(finished, unfinished)
        unfinished.replace(options.out)
    return findings


def shift_dates(text: str, start: datetime) -> str:
    """Move every quoted start and end so that the earliest start becomes `start`; lengths and gaps stay."""
    starts = [datetime.fromisoformat(date) for key, date in DATE.findall(text) if "start" in key]
    if not starts:
        raise BundleError('competition.yaml: expected quoted dates such as start: "2026-03-01 12:00:00"; found none.')
    shift = start - min(starts)
    return DATE.sub(lambda found: f'{found[1]}"{datetime.fromisoformat(found[2]) + shift}"', text)


def _entries(root: Path, start: datetime | None, training: Path | None) -> Iterator[Entry]:
    competition = (root / "competition.yaml").read_text(encoding="utf-8")
    dated = (shift_dates(competition, start) if start else competition).encode()
    for name in TOP_LEVEL:
        if name == "competition.yaml":
            yield name, dated
        elif name == "public_data" and training is not None:
            yield from _files(training, name)
        elif (root / name).exists():
            yield from _files(root / name, name)
    for name in KIT:
        if (root / name).exists():
            yield from _files(root / name, f"starting_kit/{name}")


def _files(path: Path, name: str) -> Iterator[Entry]:
    if path.is_file():
        yield name, path
        return
    for file in sorted(path.rglob("*")):
        inside = file.relative_to(path)
        hidden = any(part.startswith(".") or part in JUNK for part in inside.parts) or file.suffix == ".pyc"
        if file.is_file() and not file.is_symlink() and not hidden:
            yield str(PurePosixPath(name) / inside.as_posix()), file


def _training(root: Path, options: Options) -> Path:
    """Give the training set, made once for each size and seed and kept in build/."""
    # Here, not above: it loads OpenCV. The seed is the one whose labels' means are the constants of the baseline.
    from bundle_tools.synth.dataset import TRAINING_SEED, write_training  # noqa: PLC0415

    folder = root / "build" / f"training-{options.training_clips}-{TRAINING_SEED}"
    if folder.is_dir():
        return folder
    say(f"Making the public training set of {options.training_clips} clips (kept in {folder.relative_to(root)}).")
    folder.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".training-", dir=folder.parent) as scratch:
        unfinished = Path(scratch) / "set"
        with progress_bar("training clips") as progress:
            write_training(
                unfinished,
                clips=options.training_clips,
                seed=TRAINING_SEED,
                workers=options.workers,
                progress=progress,
            )
        unfinished.rename(folder)
    return folder


def _refuse(where: Path, findings: list[Finding], outcome: str) -> None:
    errors = [finding for finding in findings if finding.severity == "error"]
    for finding in errors:
        for line in finding.lines():
            say(line)
    if errors:
        raise BundleError(f"{where}: {len(errors)} errors, listed above. {outcome} Correct them and build again.")


def _print_sizes(entries: list[Entry], archive: Path) -> None:
    sizes: dict[str, int] = {}
    for name, content in entries:
        top = name.partition("/")[0]
        sizes[top] = sizes.get(top, 0) + (len(content) if isinstance(content, bytes) else content.stat().st_size)
    for top, size in sizes.items():
        say(f"  {top:<18} {size / 1e6:8.2f} MB")
    say(f"  {'zip':<18} {archive.stat().st_size / 1e6:8.2f} MB (about twice that counts against your quota)")
