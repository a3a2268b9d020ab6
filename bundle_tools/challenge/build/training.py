"""A training set large enough to learn from: drawn once if the public data are only a sample of drawn clips."""

from pathlib import Path

from bundle_tools.challenge.build.contents import TRAINING_CLIPS
from bundle_tools.challenge.reading.tables import LABELS, read_table
from bundle_tools.challenge.rules.phases import ENOUGH, is_drawn
from bundle_tools.codabench.rules.dataset import opened
from bundle_tools.codabench.rules.document import read
from bundle_tools.console import Progress
from bundle_tools.synthetic.folders import write_training

FOLDER = "build/training"
SEED = 2017


def needs_training_set(root: Path) -> bool:
    """Whether the public data of a bundle are just a sample of drawn clips, too small to train on."""
    draft, _ = read(root, folder=True)
    if draft is None or not is_drawn(draft):
        return False
    tables = [data.text(LABELS) for data in opened(draft, "public_data").values() if LABELS in data.names()]
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
