"""A rule about shortcuts: names, order, sizes and lengths of clips must not predict the labels.

A model that uses such a shortcut scores well without having learnt anything. One permutation test over people decides
whether chance explains the strongest correlation. What all properties predict together is the baseline *File metadata
only*.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bundle_tools.challenge.reading.tables import read_clips, read_copies, read_json, read_labels
from bundle_tools.challenge.reading.video import UnreadableVideo, describe_file
from bundle_tools.challenge.rules import finding
from bundle_tools.codabench.rules.dataset import DataFiles, find
from bundle_tools.codabench.rules.document import ParsedBundle
from bundle_tools.codabench.rules.findings import Finding

FEWEST_CLIPS = 8
# More people prove nothing more and take time.
MOST_PEOPLE = 1000
PERMUTATIONS, BATCH, SEED = 4000, 500, 20170723
ERROR_P, WARNING_P = 0.001, 0.01
# In a large set even a trace is certain; below this correlation it is worth a warning, as in files of real video.
ERROR_CORRELATION = 0.2
MOST_NAMED = 3
OF_MOTION = ("file size", "bit rate")
"""Properties that follow motion whatever the encoder. Models see neither."""
# Most numbers in a name that are used.
MOST_NUMBERS = 3
MISSING = -1.0
Column = NDArray[np.float64]


class Relation(NamedTuple):
    """The rank correlation of a feature and a target, -1 to 1."""

    feature: str
    target: str
    correlation: float


class Association(NamedTuple):
    """The result of the permutation test."""

    p: float
    """Probability of a correlation as strong as the strongest one if people exchanged their labels; 0 to 1."""
    relations: list[Relation]
    """At least one, the strongest first."""

    @property
    def is_plain(self) -> bool:
        """Whether labels can be told beyond doubt, and not just a trace of them."""
        return self.p < ERROR_P and abs(self.relations[0].correlation) >= ERROR_CORRELATION


def check_shortcuts(bundle: ParsedBundle) -> Iterator[Finding]:
    """Find clips whose names, order, sizes or lengths predict their labels."""
    seen = set()
    for task in bundle.keys.tasks:
        inputs, reference = find(bundle, task.input_data), find(bundle, task.reference_data)
        folder = str(task.input_data)
        if inputs is None or reference is None or folder in seen:
            continue
        seen.add(folder)
        labels = read_labels(reference)
        clips, columns = features(inputs, [row for row in read_clips(inputs) if row[0] in labels.rows])
        if len(clips) < FEWEST_CLIPS:
            continue
        targets = {name: [labels.rows[clip][at] for clip in clips] for at, name in enumerate(labels.targets)}
        sources = [labels.sources[clip] for clip in clips]
        result = associate(columns, targets, sources)
        if result is None or result.p >= WARNING_P:
            continue
        named = "; ".join(f"{feature} and {target} {value:+.2f}" for feature, target, value in result.relations)
        what = f"Labels can be predicted without watching a clip (p = {result.p:.4f}): {named}."
        code = "giveaway" if result.is_plain else "giveaway (trace)"
        if result.is_plain and not read_copies(inputs):
            others = {name: values for name, values in columns.items() if name not in OF_MOTION}
            rest = associate(others, targets, sources)
            if rest is None or not rest.is_plain:
                code = "giveaway (motion)"
        yield finding(code, folder, what)


def associate(
    table: Mapping[str, Sequence[float | str]], targets: Mapping[str, Sequence[float]], sources: Sequence[str]
) -> Association | None:
    """Test whether features predict labels better than chance, by SciPy's permutation test.

    Neither labels nor features of one person are independent, so each person is one row: the mean ranks of the clips.
    The statistic is the largest rank correlation of a feature, or of its square for U shapes, with a target, so that
    many features raise no false alarm (Westfall & Young 1993, Resampling-Based Multiple Testing, chapter 2).

    `table`: feature -> one value per clip: finite numbers, or texts, which are ranked alphabetically.
    `targets`: target -> one label for each clip; targets with labels that are not finite are left out.
    Returns None if no feature or no target varies between people.
    """
    from scipy.stats import permutation_test  # noqa: PLC0415 - slow to import

    names: dict[bytes, list[str]] = {}
    columns: dict[bytes, Column] = {}
    for name, values in table.items():
        ranks = _ranks_of_people(values, sources)
        bend = _unit(ranks**2)
        for title, column in ((name, ranks), (f"{name} (middle against ends)", _unit(bend - ranks * (ranks @ bend)))):
            if column.any():
                # The same order under another name, or reversed, is one feature.
                key = (column.round(9) * np.sign(column[np.flatnonzero(column)[0]]) + 0.0).tobytes()
                names.setdefault(key, []).append(title)
                columns.setdefault(key, column)
    labels = {name: _ranks_of_people(of, sources) for name, of in targets.items() if all(map(math.isfinite, of))}
    labels = {name: ranks for name, ranks in labels.items() if ranks.any()}
    if not columns or not labels:
        return None
    x, y = np.stack(list(columns.values())), np.stack(list(labels.values()), axis=1)
    draw = np.random.default_rng(SEED)
    people = draw.permutation(x.shape[1])[:MOST_PEOPLE]
    x, y = x[:, people], y[people]
    test = permutation_test(
        (np.arange(len(people)),),
        lambda order, axis: np.abs(x @ y[order]).max(axis=(-2, -1)),
        permutation_type="pairings",
        vectorized=True,
        n_resamples=PERMUTATIONS,
        batch=BATCH,
        alternative="greater",
        rng=draw,
    )
    bar = min(np.quantile(test.null_distribution, 1 - WARNING_P), test.statistic)
    correlations = x @ y
    relations = [
        Relation(" = ".join(names[key]), target, float(correlations[row, at]))
        for row, key in enumerate(columns)
        for at, target in enumerate(labels)
        if abs(correlations[row, at]) >= bar
    ]
    relations.sort(key=lambda relation: -abs(relation.correlation))
    return Association(float(test.pvalue), relations[:MOST_NAMED])


def _ranks_of_people(values: Sequence[float | str], sources: Sequence[str]) -> Column:
    """Return the rank of each person's mean rank, of mean 0 and length 1; zeros if all are equal."""
    from scipy.stats import rankdata  # noqa: PLC0415 - slow to import

    person = np.unique(sources, return_inverse=True)[1]
    ranks = rankdata(np.unique(np.asarray(values), return_inverse=True)[1])
    return _unit(rankdata((np.bincount(person, ranks) / np.bincount(person)).round(9)))


def _unit(column: Column) -> Column:
    centred = column - column.mean()
    length = np.linalg.norm(centred)
    return np.asarray(centred / length if length > 1e-9 else np.zeros_like(centred))


def features(data: DataFiles, clips: list[tuple[str, str, str]]) -> tuple[list[str], dict[str, list[float | str]]]:
    """Describe each clip by properties that are known without watching it.

    `clips`: rows of clip_id, file, sha256, in the order of the list.
    Returns `ids`: ids of the clips; those that cannot be read are left out.
    Returns `features`: name of a feature -> one value for each of these clips: a number, or a text that is ranked
    alphabetically.
    """
    names = set(data.names())
    texts = read_json(data, "transcripts.json")
    transcripts = {clip: number for number, clip in enumerate(texts)} if isinstance(texts, dict) else {}
    ids: list[str] = []
    table: dict[str, list[float | str]] = {}
    for position, (clip, file, _) in enumerate(clips):
        if file not in names:
            continue
        try:
            video = describe_file(data, file)
        except UnreadableVideo:
            continue
        ids.append(clip)
        name = PurePosixPath(file).name
        known: dict[str, float | str] = {
            "place in the list": position,
            "place in the transcripts": transcripts.get(clip, MISSING),
            "alphabetical place of the id": clip,
            "alphabetical place of the file": name,
            "length of the file's name": len(name),
            "file size": video.file_bytes,
            "duration": round(video.duration_s, 3),
            "number of frames": video.packets,
            "frame rate": video.fps,
            "width": video.width,
            "height": video.height,
            "bit rate": video.file_bytes / (video.duration_s or 1.0),
            "size of the sound": video.sound_bytes,
            "overhead of the container": video.file_bytes - video.video_bytes - video.sound_bytes,
            "creation time": video.created,
        }
        known |= {f"number {rank} in the id": value for rank, value in enumerate(_numbers(clip), 1)}
        known |= {f"number {rank} in the file's name": value for rank, value in enumerate(_numbers(name), 1)}
        for key, value in known.items():
            table.setdefault(key, []).append(value)
    return ids, table


def _numbers(name: str) -> list[float]:
    """Return the first numbers in a name, padded to a fixed count."""
    numbers = [float(digits) for digits in re.findall(r"[0-9]+(?:\.[0-9]+)?", name)[:MOST_NUMBERS]]
    return numbers + [MISSING] * (MOST_NUMBERS - len(numbers))
