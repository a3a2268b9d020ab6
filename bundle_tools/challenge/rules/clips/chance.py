"""Whether features of clips predict their labels better than chance: a permutation test."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Statistic = Callable[[Matrix], Matrix]

PERMUTATIONS = 4000
SEED = 20170723
# More clips prove nothing more and take time: the joint predictor is quadratic in their number.
MOST_CLIPS = 1000
MOST_JOINT_CLIPS = 400
# Most numbers in one batch of permutations, which bounds the memory.
BATCH_NUMBERS = 4_000_000
# A feature alone is shrunk to a third by the joint predictor; several that agree are shrunk less.
RIDGE = 2.0
# Largest p-value of a single relation that is named.
NAMED_P = 0.01
MOST_NAMED = 3
TOGETHER = "all together"


@dataclass(frozen=True)
class Relation:
    """A relation between a feature and a target."""

    feature: str
    """Name of the feature, or "all together"."""
    target: str
    correlation: float
    """Rank correlation, or, for all features together, the correlation of labels and predictions; -1 to 1."""


@dataclass(frozen=True)
class Verdict:
    """What the test found."""

    p: float
    """Probability of relations as strong as the strongest one if labels were shuffled; 0 to 1."""
    relations: tuple[Relation, ...]
    """Relations, the strongest first."""


def judge(
    features: Mapping[str, Sequence[float | str]],
    targets: Mapping[str, Sequence[float]],
    sources: Sequence[str],
    permutations: int = PERMUTATIONS,
) -> Verdict | None:
    """Test whether features predict labels better than chance.

    Two statistics. First, the largest correlation of the ranks of a feature, or of their squares for U shapes, with the
    ranks of a target. Second, the largest correlation of a target with what a ridge regression on all features together
    predicts for each source from all others. Each is compared with its own values over permutations of the labels: the
    single-step maximum statistic of Westfall & Young (1993, Resampling-Based Multiple Testing, chapter 2). The smaller
    p-value counts twice (Bonferroni). Clips of one source stay together in a permutation, because neither their labels
    nor their features are independent.

    `features`: feature -> one value per clip: finite numbers, or texts, which are ranked alphabetically.
    `targets`: target -> one label for each clip; targets with labels that are not finite are left out.
    Returns None if no feature or no target varies, or all clips have one source.
    """
    draw = np.random.default_rng(SEED)
    drawn = draw.permutation(len(sources))[:MOST_CLIPS].tolist()
    # Source by source, so that a permutation of blocks keeps neighbours together.
    clips: list[int] = sorted(drawn, key=lambda clip: (sources[clip], clip))
    blocks = np.unique([sources[clip] for clip in clips], return_inverse=True)[1]
    shapes = _shapes({name: [values[clip] for clip in clips] for name, values in features.items()})
    columns = {name: [values[clip] for clip in clips] for name, values in targets.items()}
    ranks = {
        name: _unit(_ranks(values))
        for name, values in columns.items()
        if all(map(math.isfinite, values)) and len(set(values)) > 1
    }
    if not shapes or not ranks or len(set(blocks)) < 2:
        return None
    x = np.stack([column for _, column in shapes], axis=1)
    y = np.stack(list(ranks.values()), axis=1)

    def single(labels: Matrix) -> Matrix:
        return np.asarray(np.einsum("nf,pnt->pft", x, labels, optimize=True))

    alone = single(y[None])[0]
    alone_null = _null(lambda labels: np.abs(single(labels)).max(axis=(1, 2)), y, blocks, permutations, draw)

    part = np.isin(blocks, _some_blocks(blocks, draw))
    together = _joint(x[part], blocks[part])
    joint = together(y[part][None])[0]
    joint_null = _null(lambda labels: together(labels).max(axis=1), y[part], blocks[part], permutations, draw)

    p_alone, p_joint = _p(np.abs(alone).max(), alone_null), _p(joint.max(), joint_null)
    bar = np.quantile(alone_null, 1 - NAMED_P)
    named = [
        Relation(feature, target, float(alone[f, t]))
        for f, (feature, _) in enumerate(shapes)
        for t, target in enumerate(ranks)
        if abs(alone[f, t]) >= bar
    ]
    named = sorted(named, key=lambda relation: -abs(relation.correlation))[:MOST_NAMED]
    if p_joint < p_alone or joint.max() > np.abs(alone).max() or not named:
        named.append(Relation(TOGETHER, list(ranks)[int(joint.argmax())], float(joint.max())))
    return Verdict(min(1.0, 2 * min(p_alone, p_joint)), tuple(named))


def _shapes(features: Mapping[str, Sequence[float | str]]) -> list[tuple[str, Matrix]]:
    """Return ranks and squared ranks of every feature that varies, of length 1 and mean 0, each shape once."""
    names: dict[bytes, list[str]] = {}
    columns: dict[bytes, Matrix] = {}
    for name, values in features.items():
        if len(set(values)) < 2:
            continue
        line = _unit(_ranks(values))
        bend = line**2 - np.mean(line**2)
        bend -= line * (line @ bend)
        for title, column in ((name, line), (f"{name} (middle against ends)", bend)):
            if np.linalg.norm(column) < 1e-9:
                continue
            unit = _unit(column)
            # The same order under another name, or reversed, must not be tested twice.
            key: bytes = (np.round(unit, 9) * np.sign(unit[np.flatnonzero(np.abs(unit) > 1e-9)[0]]) + 0.0).tobytes()
            names.setdefault(key, []).append(title)
            columns.setdefault(key, unit)
    return [(" = ".join(names[key]), column) for key, column in columns.items()]


def _joint(x: Matrix, blocks: NDArray[np.intp]) -> Statistic:
    """Return the ridge regression that predicts each source from the others: labels (p, n, t) -> correlations (p, t).

    With H the hat matrix, leaving out the rows G gives the residuals (I - H_GG)^-1 (y - H y)_G (Cook & Weisberg 1982,
    Residuals and Influence in Regression, section 3.2), so that the predictor is one matrix for all permutations.
    """
    kernel = x @ x.T
    identity = np.eye(len(x))
    hat = np.linalg.solve(kernel + RIDGE * identity, kernel)
    smoother = np.empty_like(hat)
    for block in np.unique(blocks):
        rows = np.flatnonzero(blocks == block)
        residuals = np.linalg.solve(identity[np.ix_(rows, rows)] - hat[np.ix_(rows, rows)], (identity - hat)[rows])
        smoother[rows] = identity[rows] - residuals

    def statistic(labels: Matrix) -> Matrix:
        predicted = np.einsum("mn,pnt->pmt", smoother, labels, optimize=True)
        predicted -= predicted.mean(axis=1, keepdims=True)
        size = np.linalg.norm(predicted, axis=1) * np.linalg.norm(labels - labels.mean(axis=1, keepdims=True), axis=1)
        return np.asarray(np.sum(predicted * labels, axis=1) / np.maximum(size, 1e-12))

    return statistic


def _null(
    largest: Statistic,
    y: Matrix,
    blocks: NDArray[np.intp],
    permutations: int,
    draw: np.random.Generator,
) -> Matrix:
    """Return a statistic's values when sources, and clips within each source, are permuted at random."""
    batch = max(1, BATCH_NUMBERS // y.size)
    values = []
    for start in range(0, permutations, batch):
        count = min(batch, permutations - start)
        places = draw.random((count, blocks.max() + 1))[:, blocks] + 1e-9 * draw.random((count, len(blocks)))
        values.append(largest(y[np.argsort(places, axis=1)]))
    return np.concatenate(values)


def _some_blocks(blocks: NDArray[np.intp], draw: np.random.Generator) -> NDArray[np.intp]:
    """Draw sources until they have enough clips for the joint predictor."""
    names, sizes = np.unique(blocks, return_counts=True)
    shuffled = draw.permutation(len(names))
    return names[shuffled][np.cumsum(sizes[shuffled]) - sizes[shuffled] < MOST_JOINT_CLIPS]


def _p(observed: float, null: Matrix) -> float:
    # The original data count as one permutation (Phipson & Smyth 2010, doi 10.2202/1544-6115.1585).
    return float((1 + (null >= observed - 1e-12).sum()) / (1 + len(null)))


def _ranks(values: Sequence[float | str]) -> Matrix:
    """Return ranks, equal values sharing their mean rank."""
    _, place, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2.0)[place]


def _unit(column: Matrix) -> Matrix:
    centred = column - column.mean()
    return np.asarray(centred / np.linalg.norm(centred))
