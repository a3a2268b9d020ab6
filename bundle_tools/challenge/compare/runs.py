"""Find the output of ingestion: in a run's folder, the starting kit's, a zip, or a fetched submission."""

from dataclasses import dataclass
from pathlib import Path

from bundle_tools.codabench.archive import extract
from bundle_tools.codabench.server.submissions import OUTPUT, is_fetched, runs_in
from bundle_tools.errors import BundleError
from bundle_tools.untrusted import read_json

# Folders of `bundle run`, of `kit.py run`, of a download from the platform, and of ingestion itself.
PLACES = ("", "ingestion_output", "input/res", "res")
LARGEST_FACTS = 20_000_000
LARGEST_OUTPUT = 2_000_000_000
"""Most bytes of one unpacked output; 10,000 clips with pictures take a sixth of that."""
MOST_FILES = 50_000
"""Most files of one output; the pictures of 10,000 clips are a fifth of that."""


@dataclass(frozen=True)
class RunFolder:
    """The results of one submission."""

    name: str
    folder: Path
    """Contains `run.json` and `manifest.json`."""
    task: str
    """Name of the phase that it ran on, as in `run.json`."""


def expand(paths: list[Path]) -> list[Path]:
    """Replace a folder of `bundle server fetch` by its submissions that are on the leaderboard.

    Raises BundleError if none of them has an output.
    """
    runs = []
    for path in paths:
        inside = runs_in(path) if is_fetched(path) else [path]
        if not inside:
            raise BundleError(f"{path}: expected submissions with an output, found none. Fetch again.")
        runs += inside
    return runs


def find_runs(paths: list[Path], scratch: Path) -> list[RunFolder]:
    """Find the results in each folder or zip.

    `paths`: at least one; a folder of `bundle server fetch` stands for its submissions on the leaderboard. Raises
    BundleError with every path in which no results were found.
    """
    runs, wrong = [], []
    paths = expand(paths)
    for number, (path, name) in enumerate(zip(paths, _names(paths), strict=True)):
        folder = path
        packed = path / OUTPUT if (path / OUTPUT).is_file() else path
        if packed.is_file():
            folder = scratch / str(number)
            try:
                extract(packed, folder, LARGEST_OUTPUT, MOST_FILES)
            except BundleError as error:
                wrong.append(f"{path}: {error}")
                continue
        results = next((folder / below for below in PLACES if (folder / below / "run.json").is_file()), None)
        try:
            task = read_json(results / "run.json", LARGEST_FACTS).get("task") if results is not None else None
        except (BundleError, AttributeError) as error:
            wrong.append(f"{path}: {error}")
            continue
        if results is None or not isinstance(task, str):
            wrong.append(f"{path}: expected the results of ingestion (run.json in it, in {', '.join(PLACES[1:])}).")
            continue
        runs.append(RunFolder(name, results.resolve(), task))
    if wrong:
        raise BundleError(" ".join(wrong))
    return runs


def _names(paths: list[Path]) -> list[str]:
    """Name each run by its folder, or by as much of its path as makes it unique."""
    parts = [(*path.resolve().parent.parts, _title(path.resolve())) for path in paths]
    for length in range(1, max(map(len, parts)) + 1):
        names = ["/".join(part[-length:]) for part in parts]
        if len(set(names)) == len(names):
            return names
    return [f"{name} ({number})" for number, name in enumerate(names, 1)]


def _title(path: Path) -> str:
    """Return the full name of a folder, such as `run.v2`, but that of a zip without its suffix."""
    return path.stem if path.suffix.lower() == ".zip" and path.is_file() else path.name
