"""The zip to upload, made from the folders of the bundle: checked, dated, complete and reproducible."""

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath

import yaml

from bundle_tools.atomic import replaced
from bundle_tools.challenge.check import check
from bundle_tools.challenge.pages.write import VALUES, open_bundle, pages_of
from bundle_tools.challenge.reading.program_settings import asked_code
from bundle_tools.challenge.reading.tables import LABELS, read_settings, read_table
from bundle_tools.challenge.rules.phases import ENOUGH, is_drawn
from bundle_tools.codabench.archive import Entry, leads_out, write_deterministic, zip_folders
from bundle_tools.codabench.build import (
    EXPECTED_FINDINGS,
    key_entries,
    point_to_zips,
    set_image,
    shift_dates,
    wheel_entries,
    with_stand_in,
)
from bundle_tools.codabench.build import NAME as KEY_NAME
from bundle_tools.codabench.build_version1 import version1_entries
from bundle_tools.codabench.keys import load
from bundle_tools.codabench.rules.archive import JUNK
from bundle_tools.codabench.rules.dataset import DataFiles, opened
from bundle_tools.codabench.rules.document import ParsedBundle, read
from bundle_tools.codabench.rules.findings import Finding
from bundle_tools.codabench.trust import ensure_trusted, remember
from bundle_tools.codabench.version1 import as_version2, is_version1
from bundle_tools.console import Progress, progress_bar, say
from bundle_tools.errors import BundleError
from bundle_tools.synthetic.folders import write_training

# Everything else (tests, docs, benchmarks, tools) is left out, unless competition.yaml names it.
TOP_LEVEL = (
    *("competition.yaml", "logo.png", "pages", "ingestion_program", "scoring_program", "input_data", "reference_data"),
    *("public_data", "solutions", "starting_kit"),
)
KIT_NAME = "starting_kit"
# What a participant needs to run the practice phase at home and to write a model, besides starting_kit/ itself.
KIT = (
    *("ingestion_program", "scoring_program", "input_data/practice", "reference_data/practice", "solutions"),
    *("docs/error_codes.md", "docs/language.md", "docs/participant.md", "pages"),
)

PUBLIC = "public_data"
METADATA = "croissant.json"
"""Description of the public data that organisers may add; docs/launch.md has a template."""
TRAINING_CLIPS = 240
"""Clips of a drawn training set: the example solution hardly improves with more."""
LONGEST_PATH = 200


def entries(root: Path, text: str, training: Path | None) -> Iterator[Entry]:
    """Yield name and content of every file but `competition.yaml`, whose text is given, before anything is zipped."""
    for name in dict.fromkeys((*TOP_LEVEL[1:], *_named(root, yaml.safe_load(text)))):
        if leads_out(root / name, root):
            raise BundleError(f"{name}: leads out of the bundle. Replace the link with what it names.")
        if name == PUBLIC:
            yield from _public(root, training)
        elif (root / name).exists():
            yield from _files(root / name, name)
    for name in KIT:
        if (root / name).exists():
            settings = read_settings(DataFiles(root / name)) if (root / name).is_dir() else None
            private = str((settings or {}).get("groups"))  # attributes of people: participants do not get them
            files = _files(root / name, f"{KIT_NAME}/{name}")
            yield from (entry for entry in files if entry[1] != root / name / private)


def current_pages(root: Path, text: str, entries: list[Entry]) -> Iterator[Entry]:
    """Yield the entries with current pages, but for those edited by hand. Those of the kit have no last line of ours.

    `text`: `competition.yaml` as packed.
    """
    content = yaml.safe_load(text)
    bundle = ParsedBundle(
        root, as_version2(content) if is_version1(content) else content, {}, folder=True, trusted=True
    )
    pages = {page.path: page for page in pages_of(bundle)}
    for name, file in entries:
        in_kit = name.startswith(f"{KIT_NAME}/")
        if name.startswith(f"{KIT_NAME}/pages/") and name.endswith((".md.j2", VALUES)):
            continue  # from which pages are made
        page = pages.get(file) if isinstance(file, Path) else None
        if page is None or page.problem or page.before is None:
            yield name, file
        elif in_kit:
            yield name, (page.before if page.is_edited else page.text).encode("utf-8", "surrogateescape")
        else:
            yield name, file if page.is_edited else page.content.encode("utf-8", "surrogateescape")


def downloads(text: str) -> list[str]:
    """Name the folders that participants download: solutions, starting kit and public data.

    Zipped here, they are exactly the bytes that were checked, the platform recognises a solution that is submitted
    unchanged, and has few files to unpack. Programs and the phases' data stay folders: the platform never reports a
    program that was zipped together with its folder.
    """
    keys = load(text)
    paths = [solution.path for solution in keys.solutions or ()]
    paths += [path for phase in keys.phases for path in (phase.starting_kit, phase.public_data)]
    return list(dict.fromkeys(path for path in paths if path is not None))


def _named(root: Path, node: object) -> Iterator[str]:
    """Yield the top-level files and folders that any value of `competition.yaml` names."""
    # An empty text, as in a fact sheet's free answer, would name the whole folder.
    if isinstance(node, str) and node and not node.startswith(("/", ".")) and len(node) < LONGEST_PATH:
        top = node.split("/")[0]
        if (root / node).exists() and top not in TOP_LEVEL:
            yield top
    elif isinstance(node, (dict, list)):
        for value in node.values() if isinstance(node, dict) else node:
            yield from _named(root, value)


def _public(root: Path, training: Path | None) -> Iterator[Entry]:
    """Yield the labelled clips that participants download, and their metadata if there are any."""
    folder = training or root / PUBLIC
    if training is not None:
        if not (folder / "labels.csv").is_file() or not (folder / "clips").is_dir():
            make = f"bundle data synth --clips {TRAINING_CLIPS} --seed 2017 --out {folder}"
            raise BundleError(f"--training {folder}: expected labels.csv and clips/, found none. Make them: `{make}`.")
        say(f"public_data: the training set in {folder}")
        if (root / PUBLIC / METADATA).is_file():
            yield f"{PUBLIC}/{METADATA}", root / PUBLIC / METADATA
    if folder.exists():
        yield from _files(folder, PUBLIC)


def _files(path: Path, name: str) -> Iterator[Entry]:
    if path.is_file():
        yield name, path
        return
    for file in sorted(path.rglob("*")):
        inside = file.relative_to(path)
        # The key of an earlier build is useless, and would be public in the starting kit.
        hidden = any(part.startswith(".") or part in JUNK for part in inside.parts) or file.suffix == ".pyc"
        hidden = hidden or file.name == KEY_NAME
        if file.is_symlink():
            say(f"Left out: {PurePosixPath(name) / inside.as_posix()} is a link. Replace each link with its file.")
        elif file.is_file() and not hidden:
            yield str(PurePosixPath(name) / inside.as_posix()), file


FOLDER = "build/training"
SEED = 2017


def needs_training_set(root: Path) -> bool:
    """Whether the public data of a bundle are just a sample of drawn clips, too small to train on."""
    bundle, _ = read(root, folder=True)
    if bundle is None or not is_drawn(bundle):
        return False
    tables = [data.text(LABELS) for data in opened(bundle, "public_data").values() if LABELS in data.names()]
    return any(len(read_table(text)) - 1 < ENOUGH for text in tables)


def training_set(root: Path, workers: int, progress: Progress | None) -> Path:
    """Return the folder of the drawn training set, made the first time.

    An interrupted run leaves no incomplete folder under that name.
    """
    folder = root / FOLDER
    if not (folder / "labels.csv").is_file():
        unfinished = folder.with_name(folder.name + ".part")
        write_training(unfinished, clips=TRAINING_CLIPS, seed=SEED, workers=workers, progress=progress)
        unfinished.replace(folder)
    return folder


__all__ = ["KIT", "TOP_LEVEL", "BuildOptions", "build"]


@dataclass(frozen=True)
class BuildOptions:
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
    new_key: bool = False
    """Whether the seal key kept in private/ is replaced."""
    version1: bool = False
    """Whether the zip has the format of CodaLab's first version."""
    stand_in: str | None = None
    """Name of a phase whose data are not packed; None packs those of all phases."""
    trust: bool = False
    """Whether the user has said that the bundle's programs may run here."""


def build(root: Path, options: BuildOptions) -> list[Finding]:
    """Write the zip and check it.

    Returns warnings and notes about the zip. Raises BundleError when the folders or the zip have errors; then no zip is
    left.
    """
    _check_out(root, options.out)
    _refuse(root, check(root, trust=options.trust), "Nothing was built.")
    programs = asked_code(open_bundle(root, trust=options.trust))
    ensure_trusted(programs)
    with tempfile.TemporaryDirectory(prefix="bundle-build-") as folder:
        scratch = Path(folder)
        packed = list(_entries(root, options, scratch))
        # Written elsewhere first: a zip that fails its own check never reaches --out.
        finished = scratch / "bundle.zip"
        write_deterministic(finished, packed)
        with progress_bar("clips of the zip") as progress:
            findings = check(finished, progress=progress, trust=options.trust)
        if options.stand_in:
            findings = [finding for finding in findings if finding.code not in EXPECTED_FINDINGS]
        _refuse(options.out, findings, "The zip was deleted.")
        _print_sizes(packed, finished)
        with replaced(options.out) as unfinished:
            shutil.copyfile(finished, unfinished)
    remember(programs)
    return findings


def _entries(root: Path, options: BuildOptions, scratch: Path) -> list[Entry]:
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
