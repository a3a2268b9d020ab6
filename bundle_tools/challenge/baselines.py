"""Compute the landmarks of a phase with the phase's own scoring program."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer

from bundle_tools.challenge.compare.runs import RunFolder
from bundle_tools.challenge.reading.tables import fingerprint, read_clips
from bundle_tools.challenge.rules.shortcuts import features
from bundle_tools.codabench.competition import Phase
from bundle_tools.codabench.rules.dataset import DataFiles
from bundle_tools.errors import BundleError
from bundle_tools.programs import scoring_input, use_scoring_program
from bundle_tools.untrusted import read_json
from score.columns import Measured, columns, total_column
from score.errors import ScoringError
from score.evaluate import clip_scores, column_values
from score.metrics import METRICS, moments
from score.pipeline import prepare
from score.read.known import Known, read_known
from score.read.reference import Reference, read_reference
from score.settings import Settings, read_settings

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

FOLDS = 10
FEWEST_PEOPLE = 4
_ALPHAS = np.logspace(-1, 4, 11)
_QUANTILES = 100


def look_up(truth: Array, sources: Numbers, constant: Array) -> Array | None:
    """Predict each clip from the labels of other clips of the same source, without watching any.

    This measures leakage between splits. The mean label m of the siblings is shrunk towards the constant c,
    ``p = c + s (m - c)``; s in [0, 1] is the least-squares slope over the clips of all *other* sources.

    `truth`: (n, k) labels.
    `sources`: (n,) index of each clip's source.
    `constant`: (k,) prediction for clips without siblings.
    Returns (n, k) predictions; None where no source has two clips.
    """
    _, people, sizes = np.unique(sources, return_inverse=True, return_counts=True)
    siblings = (sizes[people] - 1)[:, None].astype(np.float64)
    if not siblings.any():
        return None
    away = truth - constant
    sums = _by_group(away, people)[people] - away
    mean = np.divide(sums, siblings, out=np.zeros_like(sums), where=siblings > 0)
    together, alone = _by_group(mean * away, people), _by_group(mean**2, people)
    elsewhere = (alone.sum(axis=0) - alone)[people]
    slope = np.divide(
        (together.sum(axis=0) - together)[people], elsewhere, out=np.zeros_like(mean), where=elsewhere > 1e-12
    )
    return np.asarray(np.clip(constant + np.clip(slope, 0, 1) * mean, 0, 1))


def metadata_only(
    features: Mapping[str, Sequence[float | str]], truth: Array, sources: Numbers, constant: Array
) -> Array | None:
    """Predict each clip from properties of its file: name, order, size, length, bit rate.

    Ridge regression on the features' quantiles, cross-validated by source; its strength is chosen within each
    training part. On sound data it is no better than the constant.

    `features`: name -> one value per clip; texts count by their alphabetical place. Returns (n, k) predictions; None
    with too few people, or where no feature varies.
    """
    people = len(np.unique(sources))
    columns = [
        np.unique(np.asarray(values), return_inverse=True)[1] for values in features.values() if len(set(values)) > 1
    ]
    if people < FEWEST_PEOPLE or not columns:
        return None
    x = np.stack(columns, axis=1).astype(np.float64)
    predicted = np.tile(constant, (len(truth), 1))
    for train, test in GroupKFold(min(FOLDS, people)).split(x, groups=sources):
        ranks = QuantileTransformer(n_quantiles=min(_QUANTILES, len(train)))
        model = make_pipeline(ranks, RidgeCV(alphas=_ALPHAS, alpha_per_target=truth.shape[1] > 1))
        predicted[test] = model.fit(x[train], truth[train]).predict(x[test]).reshape(len(test), -1)
    return np.asarray(np.clip(predicted, 0, 1))


def from_causes(truth: Array, contributions: Array) -> Array:
    """Predict each clip from the known causes of its label; only the labels' own noise remains.

    `truth`: (n, k) labels. `contributions`: (n, k) sum of the contributions of all cues: the noiseless label minus that
    of a neutral clip.
    """
    return np.asarray(np.clip(contributions + np.median(truth - contributions, axis=0), 0, 1))


def noise_within_people(truth: Array, sources: Numbers) -> Array | None:
    """Return (1, k) the variance of labels between clips of one person; None where no source has two clips."""
    _, people, sizes = np.unique(sources, return_inverse=True, return_counts=True)
    freedom = len(truth) - len(sizes)
    if freedom < 1:
        return None
    means = _by_group(truth, people) / sizes[:, None]
    return np.asarray(((truth - means[people]) ** 2).sum(axis=0, keepdims=True) / freedom)


def noise_ceiling(truth: Array, noise: Array, constant: Array) -> dict[str, Array]:
    """Estimate the score of a model that predicts every label but for its noise.

    With the standard deviation w of the noise and s of all labels, and rho = 1 - w^2 / s^2 (an intraclass
    correlation): the mean absolute error is w sqrt(2 / pi) for normal noise, R2 is rho, the correlation sqrt(rho), the
    concordance 2 rho / (1 + rho).

    `noise`: (1, k) w^2. Returns metrics by name, (1, k) each.
    """
    spread = truth.var(axis=0, ddof=1, keepdims=True)
    shared = np.clip(1 - np.divide(noise, spread, out=np.ones_like(noise), where=spread > 0), 0, 1)
    error = np.sqrt(noise * 2 / np.pi)
    baseline = np.abs(truth - constant).mean(axis=0, keepdims=True)
    saved = np.divide(baseline - error, baseline, out=np.zeros_like(error), where=baseline > 0)
    return {
        "accuracy": np.clip(1 - error, 0, 1),
        "r2": shared,
        "ccc": 2 * shared / (1 + shared),
        "pearson": np.sqrt(shared),
        "skill": np.clip(saved, -1, 1),
    }


def _by_group(rows: Array, numbers: NDArray[np.intp]) -> Array:
    sums = np.zeros((int(numbers.max()) + 1, rows.shape[1]))
    np.add.at(sums, numbers, rows)
    return sums


FORMAT_VERSION = 1
DECIMALS = 6
_NO_KEY = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True)
class _Truth:
    """Labels of a phase on the unit scale, and related data."""

    settings: Settings
    reference: Reference
    known: Known
    truth: Array
    """(n, k) labels."""
    constant: Array


def compute(phase: Phase, runs: Sequence[RunFolder], unseen: Sequence[Path], scratch: Path) -> dict[str, Any]:
    """Compute the content of ``landmarks.json``.

    `runs`: runs of solutions on this phase that become landmarks. Constant predictions are left out, because the
    constant is already a landmark. `unseen`: a solution's cross-validated predictions, as its training writes them.
    Raises BundleError when the phase's data or such a file cannot be read, or a run cannot be scored.
    """
    reference = use_scoring_program(phase, scratch)
    if phase.task.input_data is None:
        raise BundleError(f"phase {phase.slug}: expected input data, found none. Add them to its task.")
    input_data = DataFiles(phase.task.input_data)
    known = _read(reference)
    meaning = "Predicts the training mean of each target, with no explanation."
    constant = _silent(known, np.tile(known.constant, (len(known.truth), 1)))
    items = [_item("constant", "constant", "Constant", meaning, *constant), *_shortcuts(known, input_data)]
    items += [item for run in runs if (item := _solution(run, phase, reference, scratch))]
    items += [_cross_validated(path, known) for path in unseen]
    items += _ceiling(known)
    digest = fingerprint(input_data, DataFiles(reference))
    return {"format_version": FORMAT_VERSION, "data_sha256": digest, "landmarks": items}


def _read(reference: Path) -> _Truth:
    try:
        settings = read_settings(reference / "task.yaml")
        labels = read_reference(reference / "labels.csv", settings)
        known = read_known(reference, settings, labels)
    except ScoringError as error:
        raise BundleError(f"{reference}: {error.headline} Run `bundle check`.") from error
    constant = np.array([target.constant for target in settings.targets])
    return _Truth(settings, labels, known, _to_unit(labels.truth, settings), _to_unit(constant, settings))


def _to_unit(values: Array, settings: Settings) -> Array:
    low = np.array([target.minimum for target in settings.targets])
    high = np.array([target.maximum for target in settings.targets])
    return np.asarray((values - low) / (high - low))


def _shortcuts(known: _Truth, input_data: DataFiles) -> list[dict[str, Any]]:
    items = []
    predicted = _by_metadata(known, input_data)
    if predicted is not None:
        meaning = "Regression on order, names, sizes and bit rates of the files, cross-validated; no clip is opened."
        items.append(_item("metadata", "shortcut", "File metadata only", meaning, *_silent(known, predicted)))
    predicted = look_up(known.truth, known.reference.sources, known.constant)
    if predicted is not None:
        meaning = "The labels of the same person's other clips: what a model gains if a person is in two splits."
        items.append(_item("look_up", "shortcut", "Labels of the same person", meaning, *_silent(known, predicted)))
    return items


def _by_metadata(known: _Truth, input_data: DataFiles) -> Array | None:
    row_of = {clip_id: number for number, clip_id in enumerate(known.reference.clip_ids)}
    ids, table = features(input_data, [row for row in read_clips(input_data) if row[0] in row_of])
    at = np.array([row_of[clip_id] for clip_id in ids], dtype=np.int64)
    if len(at) == 0:
        return None
    part = metadata_only(table, known.truth[at], known.reference.sources[at], known.constant)
    if part is None:
        return None
    predicted = np.tile(known.constant, (len(known.truth), 1))
    predicted[at] = part
    return predicted


def _ceiling(known: _Truth) -> list[dict[str, Any]]:
    causes = known.known.causes
    if causes is not None:
        shares = np.array([causes.clips[clip_id].contributions.sum(axis=1) for clip_id in known.reference.clip_ids])
        columns, targets = _numbers(known, _metrics(known, from_causes(known.truth, shares)))
        meaning = "A model that knows all causes of every label; only the labels' own noise remains."
        return [_item("ceiling", "ceiling", "Noise ceiling", meaning, columns, targets)]
    settings = known.settings
    noise: Array | None
    if settings.label_noise:
        spans = np.array([target.maximum - target.minimum for target in settings.targets])
        noise = (np.array([[settings.label_noise.get(name, 0.0) for name in settings.names]]) / spans) ** 2
        meaning = (
            "A model that knows what all possible raters would say in the mean; only the chance of who rated remains."
        )
    else:
        noise = noise_within_people(known.truth, known.reference.sources)
        meaning = "The best model if all differences between clips of one person were noise. A model may exceed it."
    if noise is None:
        return []
    metrics = noise_ceiling(known.truth, noise, known.constant)
    return [_item("ceiling", "ceiling", "Noise ceiling", meaning, *_numbers(known, metrics))]


def _solution(run: RunFolder, phase: Phase, reference: Path, scratch: Path) -> dict[str, Any] | None:
    name = run.name.rpartition("/")[2].removesuffix(f"-{phase.slug}")
    source = scoring_input(scratch / f"landmark-{name}", reference, run.folder)
    try:
        prepared = prepare(source)
    except ScoringError as error:
        raise BundleError(f"{run.name}: {error.headline} Run it again with `bundle run`.") from error
    if (np.ptp(prepared.outcomes.prediction, axis=0) < 1e-9).all():
        return None
    scores = clip_scores(prepared.outcomes, prepared.settings)
    ones = np.ones((1, scores.groups))
    sums = scores.by_source()[0].weighted(ones)
    columns = {key: float(value[0]) for key, value in column_values(scores, ones).items()}
    metrics = {metric: compute(sums)[0] for metric, compute in METRICS.items()}
    targets = {
        target: {metric: float(values[at]) for metric, values in metrics.items()}
        for at, target in enumerate(prepared.settings.names)
    }
    meaning = "An example submission, run as any other."
    return _item(_key(name), "solution", f"Solution {name}"[:40], meaning, columns, targets)


def _cross_validated(path: Path, known: _Truth) -> dict[str, Any]:
    """Score the predictions of public clips, each by a model that was trained without the person; needs no phase."""
    try:
        record = read_json(path)
        labels, predicted = (
            _to_unit(np.array([clip[name] for clip in record["clips"]], np.float64), known.settings)
            for name in ("labels", "predicted")
        )
        targets = tuple(record["targets"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BundleError(f"{path}: expected clips with labels and predictions ({error!r}). Train again.") from error
    if targets != known.settings.names:
        raise BundleError(
            f"{path}: expected the targets {', '.join(known.settings.names)}; found {', '.join(targets)}."
        )
    name = path.parent.name
    numbers = _numbers(known, _metrics(replace(known, truth=labels), predicted))
    meaning = "Predictions of the public clips; who predicts a person's clips was trained without that person."
    title = f"{name[:1].upper()}{name[1:]}, cross-validated"[:40]
    return _item(_key(f"{name}_unseen"), "solution", title, meaning, *numbers)


def _key(name: str) -> str:
    key = _NO_KEY.sub("_", name.lower()).strip("_")[:24] or "solution"
    return key if key[0].isalpha() else f"solution_{key}"


def _silent(known: _Truth, predicted: Array) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Score predictions without explanations; their total is the lowest possible."""
    numbers, targets = _numbers(known, _metrics(known, predicted))
    total = total_column(known.settings)
    return ({} if total.worst is None else {total.key: total.worst}) | numbers, targets


def _metrics(known: _Truth, predicted: Array) -> dict[str, Array]:
    sums = moments(known.truth, predicted, known.constant).weighted(np.ones((1, len(predicted))))
    return {name: metric(sums) for name, metric in METRICS.items()}


def _numbers(known: _Truth, metrics: dict[str, Array]) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Return the score columns that follow from metrics alone, and the metrics of each target."""
    # Axes are NaN here, and so is every column that needs them.
    axes: dict[str, Array] = defaultdict(lambda: np.array([np.nan]))
    measured = Measured(metrics, axes, jury=0, failed_clips=0, duration_s=0, not_comparable=0)
    computed = {column.key: column.compute(measured) for column in columns(known.settings)}
    values = {key: float(value[0]) for key, value in computed.items() if isinstance(value, np.ndarray)}
    targets = {
        name: {metric: float(values[0, at]) for metric, values in metrics.items()}
        for at, name in enumerate(known.settings.names)
    }
    return {key: value for key, value in values.items() if np.isfinite(value)}, targets


def _item(
    key: str, kind: str, title: str, meaning: str, columns: dict[str, float], targets: dict[str, dict[str, float]]
) -> dict[str, Any]:
    return {
        "key": key,
        "kind": kind,
        "title": title,
        "meaning": meaning,
        "columns": {name: round(value, DECIMALS) + 0.0 for name, value in columns.items()},
        "targets": {
            target: {metric: round(value, DECIMALS) + 0.0 for metric, value in metrics.items()}
            for target, metrics in targets.items()
        },
    }
