"""Train the networks: `python3 my_network/train.py --data DIR [--out DIR] [--folds]`, in the starting kit.

DIR is a labelled folder: clips/, labels.csv and transcripts.json. Needs PyTorch, and the example `cue_reader`, which
measures the training clips: where the face is, and roughly how much there is of each cue.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from nets import INPUTS, OUTPUTS, PlaceNet, PoseNet, ReaderNet, Shipped
from numpy.typing import NDArray
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold
from torch import Tensor, nn
from torch.nn import functional
from videonet import reading
from videonet.network import TARGETS, Network

HERE = Path(__file__).resolve().parent
# Where the starting kit and the cue reader lie: around this folder, or in the organisers' bundle.
AROUND = [
    parent / name for parent in HERE.parents for name in ("", "starting_kit", "cue_reader", "solutions/cue_reader")
]
for wanted in ("file_clip.py", "cuereader"):
    sys.path += [str(folder) for folder in AROUND if (folder / wanted).exists()][:1]

from cuereader.features import CUES as NAMES  # noqa: E402 - found only now
from cuereader.features import FEATURES, read_clip  # noqa: E402

from file_clip import FileClip  # noqa: E402
from training import Labelled, read_labelled, say_skill  # noqa: E402

Floats = NDArray[np.float32]
Arrays = dict[str, NDArray[Any]]
Batch = Callable[[NDArray[np.int64]], tuple[Tensor, Tensor]]
SEED, FOLDS, VIEWS = 0, 5, 3
"""Views: how often each clip is cut out, each time from a slightly wrong place."""


def measure(job: tuple[Path, str]) -> Arrays:
    """Return a clip's usual pictures, what the cue reader finds in it, its sound and its words."""
    cv2.setNumThreads(1)  # the processes share the cores already
    clip = FileClip(*job)
    clip_read = read_clip(clip)
    face = clip_read.picture.face
    found_at = (
        (np.nan,) * 4 if face is None else (np.median(face.x), np.median(face.y), face.unit, np.median(face.roll))
    )
    frames = list(clip.frames(count=reading.FRAMES))
    return {
        "large": reading.usual(np.array(frames)),
        "small": reading.usual(np.array([reading.shrink(frame) for frame in frames])),
        "place": np.array(found_at),
        "measured": clip_read.values,
        "loudness": reading.loudness(clip.audio(reading.RATE), clip.duration_s),
        "letters": reading.letters(clip.transcript, clip.duration_s),
        "words": reading.counted(clip.transcript),
    }


def view(job: tuple[int, tuple[Path, str], Floats]) -> Arrays:
    """Return a clip's windows, cut out from about the right place."""
    cv2.setNumThreads(1)
    number, (path, _), found_at = job
    frames = list(FileClip(path).frames(count=reading.FRAMES))
    random = np.random.default_rng((SEED, number))
    rows = []
    for which in range(VIEWS):
        off = random.normal(size=4) * (0.03, 0.03, 0.02, 0.08) * (which > 0)
        pose = reading.corrected(reading.Pose(*found_at), off.astype(np.float32))
        row = {name: reading.cut_all(frames, pose, window) for name, window in reading.WINDOWS.items()}
        row |= {f"{name}_usual": reading.usual(pictures) for name, pictures in row.items()}
        row["face"] = reading.usual(reading.cut_all(frames, pose, reading.FACE))
        row["pose"] = np.array((pose.unit / frames[0].shape[0], pose.roll), np.float32)
        rows.append(row)
    return _stacked(rows)


def find_places(data: Arrays, random: np.random.Generator) -> Batch:
    """Return what draws a batch for the net that finds the face: moved pictures, and where the face is then."""

    def draw(numbers: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        pictures, heat = [], []
        rows, columns = np.indices((23, 40))
        for number in numbers:
            size, right, down = random.uniform(0.85, 1.15), random.uniform(-20, 20), random.uniform(-10, 10)
            move = np.array([[size, 0, 80 - 80 * size + right], [0, size, 45 - 45 * size + down]])
            picture = cv2.warpAffine(data["small"][number], move, reading.SMALL, borderMode=cv2.BORDER_REFLECT)
            x, y = move @ (*data["place"][number, :2] / 4, 1)
            if random.random() < 0.5:
                picture, x = picture[:, ::-1], 160 - x
            pictures.append(picture.transpose(2, 0, 1) * random.uniform(0.9, 1.1, (3, 1, 1)))
            near = np.exp(-((columns + 0.5 - x / 4) ** 2 + ((rows + 0.5) * 90 / 92 - y / 4) ** 2) / (2 * 0.8**2))
            heat.append(near.ravel() / (near.sum() + 1e-9))
        return torch.tensor(reading.evened(np.array(pictures))), torch.tensor(np.array(heat), dtype=torch.float32)

    return draw


def find_poses(data: Arrays, random: np.random.Generator) -> Batch:
    """Return what draws a batch for the net that corrects a guess: windows at wrong places, and the corrections."""

    def draw(numbers: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        windows, wanted = [], []
        for number in numbers:
            picture, pose = data["large"][number], reading.Pose(*data["place"][number])
            if random.random() < 0.5:
                picture = np.ascontiguousarray(picture[:, ::-1])
                pose = reading.Pose(picture.shape[1] - pose.x, pose.y, pose.unit, -pose.roll)
            off = random.normal(size=4) * (1, 1, 0.6, 2) * random.choice((0.06, 0.3))
            guess = reading.corrected(pose, off.astype(np.float32))
            if random.random() < 0.3:  # as the first guess is
                guess = reading.Pose(guess.x, guess.y, reading.USUAL_UNIT * len(picture), 0.0)
            window = reading.cut(picture, guess, reading.POSE).transpose(2, 0, 1)
            windows.append(reading.evened(window * random.uniform(0.9, 1.1, (3, 1, 1))))
            turn, x, y = np.radians(guess.roll), (pose.x - guess.x) / guess.unit, (pose.y - guess.y) / guess.unit
            right, down = np.cos(turn) * x + np.sin(turn) * y, np.cos(turn) * y - np.sin(turn) * x
            wanted.append((right, down, np.log(pose.unit / guess.unit), (pose.roll - guess.roll) / 10))
        return torch.tensor(np.array(windows)), torch.tensor(np.array(wanted), dtype=torch.float32)

    return draw


def fit_finder(net: nn.Module, batch: Batch, loss: Callable[[Tensor, Tensor], Tensor], clips: int, epochs: int) -> None:
    """Fit one of the two nets that find the face."""
    random, size, rate = np.random.default_rng(SEED), min(24, clips), 3e-3
    optimizer = torch.optim.AdamW(net.parameters(), rate, weight_decay=1e-3)
    steps = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=epochs * (clips // size))
    for _ in range(epochs):
        for numbers in random.permutation(clips)[: clips // size * size].reshape(-1, size):
            batch_in, wanted = batch(numbers)
            optimizer.zero_grad()
            loss(net(batch_in), wanted).backward()
            optimizer.step()
            steps.step()
    net.eval()


def hints(measured: NDArray[np.float64], labels: NDArray[np.float64]) -> Tensor:
    """Return roughly how much there is of each cue, standardised, shape (clips, cues): what the cue reader measures.

    Measurements of one cue are weighed as a ridge on the labels weighs them; the first one gives the sign.
    """
    spread = np.clip(np.nan_to_num((measured - np.nanmean(measured, 0)) / (np.nanstd(measured, 0) + 1e-9)), -3, 3)
    weights, columns = Ridge(alpha=2).fit(spread, labels).coef_, []
    for cue in NAMES:
        own = [number for number, (_, of) in enumerate(FEATURES) if of == cue]
        parts = spread[:, own] @ weights[:, own].T
        amount = parts @ np.linalg.svd(parts, full_matrices=False)[2][0]
        first = spread[:, own[0]] * (-1 if cue in ("gaze", "posture") else 1)
        columns.append(amount / (amount.std() + 1e-9) * np.sign(amount @ first))
    return torch.tensor(np.stack(columns, axis=1), dtype=torch.float32)


def drawn(data: Arrays, numbers: NDArray[np.int64], random: np.random.Generator) -> dict[str, Tensor]:
    """Return a batch for the reader: one of the views of each clip, perhaps mirrored and tinted."""
    which = random.integers(VIEWS, size=len(numbers))
    clip = {
        name: torch.from_numpy(data[name][numbers] if data[name].ndim == 2 else data[name][numbers, which]).float()
        for name in INPUTS
    }
    if random.random() < 0.5:
        clip = {name: value.flip(-1) if value.ndim > 3 else value for name, value in clip.items()}
    tint = torch.from_numpy(1 + 0.04 * random.standard_normal((len(numbers), 3, 1, 1))).float()
    return {
        name: value * (tint[:, None] if value.ndim == 5 else tint) if value.ndim > 3 else value
        for name, value in clip.items()
    }


def fit_reader(data: Arrays, labels: NDArray[np.float64], epochs: int) -> ReaderNet:
    """Fit the reader to the labels; the hints help less and less."""
    torch.manual_seed(SEED)
    random, size, rate = np.random.default_rng(SEED), min(16, len(labels)), 4e-3
    logits = np.log(np.clip(labels, 0.01, 0.99) / (1 - np.clip(labels, 0.01, 0.99)))
    wanted, rough = torch.tensor(logits, dtype=torch.float32), hints(data["measured"], logits)
    net = ReaderNet(labels.shape[1], reading.BUCKETS)
    with torch.no_grad():
        net.weights.bias.copy_(wanted.mean(dim=0))
    others = [value for name, value in net.named_parameters() if name != "tone"]
    groups = [{"params": [net.tone], "weight_decay": 0.0}, {"params": others, "weight_decay": 1e-2}]
    optimizer = torch.optim.AdamW(groups, rate)
    total = epochs * (len(labels) // size)
    steps = torch.optim.lr_scheduler.OneCycleLR(optimizer, [3 * rate, rate], total_steps=total, pct_start=0.2)
    for epoch in range(epochs):
        for chosen in random.permutation(len(labels))[: len(labels) // size * size].reshape(-1, size):
            scores, cues = net(drawn(data, chosen, random))
            hint = functional.mse_loss(cues, rough[chosen]) * max(0.03, 0.3 - 0.48 * epoch / epochs)
            # Few words tell something.
            few = 2e-4 * net.tone.abs().sum() * net.standard.running_var[-1].clamp_min(0.01).rsqrt()
            loss = functional.mse_loss(scores, wanted[chosen]) + hint + few + 1e-2 * net.pairs.square().sum()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            steps.step()
    return net.eval()


def export(
    net: nn.Module, inputs: tuple[Tensor, ...], names: tuple[str, ...], results: tuple[str, ...], path: Path
) -> None:
    """Write a network as ONNX; only the sound may have any length."""
    torch.onnx.export(
        net.eval(),
        inputs,
        path,
        input_names=list(names),
        output_names=list(results),
        dynamic_axes={"loudness": {0: "steps"}} if "loudness" in names else {},
        dynamo=False,
        opset_version=17,
    )


def fit(data: Arrays, labels: NDArray[np.float64], epochs: int, out: Path) -> None:
    """Fit the three networks to some clips, and write them."""
    torch.manual_seed(SEED)
    finder, pose, clips = PlaceNet(), PoseNet(), len(labels)
    fit_finder(finder, find_places(data, np.random.default_rng(SEED)), _spread, clips, epochs // 2)
    fit_finder(pose, find_poses(data, np.random.default_rng(SEED)), _distance, clips, 5 * epochs // 4)
    reader = fit_reader(data, labels, epochs)
    chances = nn.Sequential(finder, nn.Flatten(), nn.Softmax(dim=1), nn.Unflatten(1, (23, 40)))
    export(chances, (torch.zeros(1, 3, 90, 160),), ("picture",), ("chances",), out / "place.onnx")
    export(pose, (torch.zeros(1, 3, 70, 64),), ("window",), ("change",), out / "pose.onnx")
    examples = tuple(
        torch.from_numpy(data[name][0] if data[name].ndim == 2 else data[name][0, 0]) for name in INPUTS
    )  # fmt: skip
    export(Shipped(reader), examples, INPUTS, OUTPUTS, out / "reader.onnx")


def predict_unseen(
    data: Arrays, folder: Labelled, seen: NDArray[np.int64], unseen: NDArray[np.int64], epochs: int
) -> NDArray[np.float64]:
    """Return the scores of some clips, read as a submission reads them, by networks fitted to other people's clips."""
    with tempfile.TemporaryDirectory() as out:
        fit({name: values[seen] for name, values in data.items()}, folder.labels[seen], epochs, Path(out))
        network = Network(Path(out))
        return np.array([network.read(FileClip(*folder.clips[at])).scores for at in unseen])


def write_unseen(folder: Labelled, fold: NDArray[np.int64], predicted: NDArray[np.float64], path: Path) -> None:
    """Write what was predicted for people who were left out, beside their labels: a line for each clip."""
    version = torch.__version__.partition("+")[0]
    made = (
        f"train.py --folds, with PyTorch {version}, from {len(folder.clips)} clips: the people fall into {FOLDS} "
        "folds; all networks are trained anew without a fold, then read its clips as a submission does."
    )
    rows = zip(folder.clips, folder.sources, fold.tolist(), folder.labels, predicted.round(6), strict=True)
    clips = [
        {"clip": clip.stem, "person": person, "fold": number, "labels": [*labels], "predicted": [*ours]}
        for (clip, _), person, number, labels, ours in rows
    ]
    lines = ",\n".join(json.dumps(clip) for clip in clips)
    head = json.dumps({"made": made, "targets": folder.targets})[:-1]
    path.write_text(f'{head}, "clips": [\n{lines}\n]}}\n', encoding="utf-8")


def _stacked(rows: list[Arrays]) -> Arrays:
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def main() -> None:
    """Read the folder, fit, export, and on request say how well people who were left out are predicted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="labelled folder")
    parser.add_argument("--out", type=Path, default=HERE, help="where the networks go")
    parser.add_argument("--folds", action="store_true", help="also cross-validate over people, which takes longer")
    parser.add_argument("--workers", type=int, default=2, help="processes that read clips")
    parser.add_argument("--epochs", type=int, default=60, help="rounds of training; fewer to try it out")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)  # the same sums in the same order everywhere
    start = time.monotonic()

    def say(what: str) -> None:
        print(f"{time.monotonic() - start:5.0f} s: {what}", flush=True)

    folder = read_labelled(options.data)
    if folder.targets != TARGETS:
        raise SystemExit(
            f"{options.data}: expected the targets {', '.join(TARGETS)}; found {', '.join(folder.targets)}"
        )
    with ProcessPoolExecutor(options.workers) as pool:
        data = _stacked(list(pool.map(measure, folder.clips)))
        say("measured all clips")
        kept: list[int] = np.flatnonzero(np.isfinite(data["place"]).all(axis=1)).tolist()
        folder = Labelled(
            [folder.clips[at] for at in kept], [folder.sources[at] for at in kept], TARGETS, folder.labels[kept]
        )
        data = {name: values[kept] for name, values in data.items()}
        views = pool.map(view, zip(range(len(kept)), folder.clips, data["place"], strict=True))
        data |= _stacked(list(views))
    say("cut out what the networks look at")
    fit(data, folder.labels, options.epochs, options.out)
    say("learned to find faces and to read clips")
    errors = None
    if options.folds:
        ours, constant, fold = np.empty_like(folder.labels), np.empty_like(folder.labels), np.empty(len(kept), int)
        folds = GroupKFold(FOLDS).split(folder.labels, groups=folder.sources)
        for number, (seen, unseen) in enumerate(folds, 1):
            ours[unseen] = predict_unseen(data, folder, seen, unseen, options.epochs)
            constant[unseen], fold[unseen] = folder.labels[seen].mean(axis=0), number
            say(f"predicted the people of fold {number} of {FOLDS}")
        write_unseen(folder, fold, ours, options.out / "unseen.json")
        errors = np.abs(ours - folder.labels).mean(axis=0), np.abs(constant - folder.labels).mean(axis=0)
    say_skill(folder, errors)


def _spread(predicted: Tensor, wanted: Tensor) -> Tensor:
    return -(functional.log_softmax(predicted.flatten(1), dim=1) * wanted).sum(dim=1).mean()


def _distance(predicted: Tensor, wanted: Tensor) -> Tensor:
    return ((predicted - wanted) ** 2 * torch.tensor((1.0, 1.0, 4.0, 1.0))).sum(dim=1).mean()


if __name__ == "__main__":
    main()
