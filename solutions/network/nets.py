"""The three networks, in PyTorch; `train.py` fits and exports them, the submission runs them as ONNX."""

import torch
from torch import Tensor, nn
from torch.nn import functional

CUES = 8
SOUND, WORDS = (6,), (7, 8)
"""Sums that need sound, and those that need words."""


def _block(inside: int, outside: int, stride: int = 1, size: int = 3) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inside, outside, size, stride, size // 2), nn.BatchNorm2d(outside), nn.ReLU()
    )  # fmt: skip


class PlaceNet(nn.Module):
    """From a small picture to how likely the point between the eyes is in each cell, before the softmax."""

    def __init__(self) -> None:
        super().__init__()
        blocks = (_block(3, 12, 2), _block(12, 16), _block(16, 24, 1, 5), _block(24, 24, 1, 5))
        self.layers = nn.Sequential(nn.AvgPool2d(2), *blocks, nn.Conv2d(24, 1, 1))

    def forward(self, picture: Tensor) -> Tensor:
        """Return shape (pictures, rows, columns)."""
        return self.layers(picture)[:, 0]


class PoseNet(nn.Module):
    """From the surroundings of a guessed face to what corrects the guess: right, down, log size, tilt."""

    def __init__(self) -> None:
        super().__init__()
        blocks = (_block(3, 16, 2), _block(16, 24, 2), _block(24, 32), _block(32, 32), _block(32, 32, 2))
        self.layers = nn.Sequential(*blocks, nn.Flatten(), nn.Linear(32 * 9 * 8, 48), nn.ReLU(), nn.Linear(48, 4))

    def forward(self, window: Tensor) -> Tensor:
        """Return shape (windows, 4)."""
        return self.layers(window)


class Event(nn.Module):
    """How a window differs from its usual look, summed over places and moments; exactly 0 where it does not.

    Nothing after the difference has a constant term, so that places and moments share the sum exactly.
    """

    def __init__(self, rows: int, columns: int, first: int, second: int) -> None:
        super().__init__()
        self.look = nn.Conv2d(3, first, 3, 2, 1)
        self.shape = nn.Conv2d(first, second, 3, 1, 1, bias=False)
        self.whole = nn.Conv2d(second, second, 3, 1, 1, bias=False)
        self.size = (rows // 2, columns // 2)
        self.weight = nn.Parameter(torch.randn(second, 4, 5) * 0.02)

    def forward(self, seen: Tensor, usual: Tensor) -> Tensor:
        """Return what each place adds at each moment, shape (clips, moments, rows, columns).

        `seen`: shape (clips, frames, 3, rows, columns). `usual`: without frames.
        """
        clips, frames = seen.shape[:2]
        light = usual.mean(dim=(1, 2, 3), keepdim=True) + 2
        change = functional.relu(self.look((seen / light[:, None]).flatten(0, 1))).unflatten(0, (clips, frames))
        change = change - functional.relu(self.look(usual / light))[:, None]
        calm = (change[:, 0:-2:2] + change[:, 1:-1:2] + change[:, 2::2]) / 3  # speaking lips move faster than events
        features = functional.relu(self.whole(functional.relu(self.shape(calm.flatten(0, 1)))))
        weight = functional.interpolate(self.weight[None], self.size, mode="bilinear", align_corners=True)
        parts = (features * weight).sum(dim=1).unflatten(0, (clips, -1))
        # A moment counts the more, the more happens in it: events stand out from sway and noise.
        moments = parts.sum(dim=(2, 3))
        stress = moments.abs() / torch.sqrt(moments.square().mean(dim=1, keepdim=True) + 1e-6)
        return parts * stress[:, :, None, None]


class ReaderNet(nn.Module):
    """From windows, sound and words to scores: a sum for each cue, and a small formula of the sums."""

    def __init__(self, targets: int, buckets: int) -> None:
        super().__init__()
        self.mouth, self.eyes, self.body = Event(28, 44, 12, 16), Event(20, 44, 12, 16), Event(32, 28, 8, 12)
        small = (nn.Conv2d(3, 12, 3, 2, 1), nn.ReLU(), nn.Conv2d(12, 16, 3, 2, 1), nn.ReLU(), nn.Flatten())
        self.shade = nn.Sequential(*small, nn.Dropout(0.2), nn.Linear(16 * 9 * 9, 1))
        beats = (nn.Conv1d(1, 12, 9, padding=4), nn.ReLU(), nn.Conv1d(12, 12, 9, padding=4), nn.ReLU())
        self.beats = nn.Sequential(*beats, nn.Conv1d(12, 1, 1))
        self.pace = nn.Linear(3, 1)
        self.tone = nn.Parameter(torch.zeros(buckets))
        self.standard = nn.BatchNorm1d(CUES + 1, affine=False, momentum=0.05)
        self.share = nn.Parameter(torch.zeros(()))
        self.weights = nn.Linear(CUES, targets)
        self.pairs = nn.Parameter(torch.zeros(targets, CUES, CUES))

    def sums(self, clip: dict[str, Tensor]) -> tuple[Tensor, list[Tensor]]:
        """Return the nine sums, shape (clips, 9), and the maps of the three events."""
        maps = [
            self.mouth(clip["mouth"], clip["mouth_usual"]),
            self.eyes(clip["eyes"], clip["eyes_usual"]),
            self.body(_halved(clip["body"]), functional.avg_pool2d(clip["body_usual"], 2)),
        ]
        face = clip["face"]
        bright = face.mean(dim=(1, 2, 3)) + 2
        unit, roll = clip["pose"].unbind(dim=1)
        parts = [
            *(part.mean(dim=1).sum(dim=(1, 2)) for part in maps),
            -torch.sqrt((roll / 10) ** 2 + 0.003),
            torch.log(bright) - self.shade(face / bright[:, None, None, None] - 1)[:, 0],
            torch.log(unit),
            self.beats(clip["loudness"][:, None]).mean(dim=(1, 2)),
            self.pace(clip["letters"] / 5)[:, 0],
            clip["words"] @ self.tone,
        ]
        return torch.stack(parts, dim=1), maps

    def cues(self, standard: Tensor) -> Tensor:
        """Return the amounts of the eight cues: speech rate has two sums."""
        share = torch.sigmoid(self.share)
        rate = share * standard[:, 6] + (1 - share) * standard[:, 7]
        return torch.cat((standard[:, :6], rate[:, None], standard[:, 8:]), dim=1)

    def scores(self, cues: Tensor) -> Tensor:
        """Return the scores before the sigmoid."""
        return self.weights(cues) + torch.einsum("bi,jik,bk->bj", cues, self.pairs, cues)

    def forward(self, clip: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Return scores before the sigmoid and amounts of the cues."""
        cues = self.cues(self.standard(self.sums(clip)[0]))
        return self.scores(cues), cues


class Shipped(nn.Module):
    """The reader as the submission runs it: one clip, and with its scores those of the clip without each cue."""

    def __init__(self, reader: ReaderNet) -> None:
        super().__init__()
        self.reader = reader

    def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        """Return scores (1 + cues + events, targets), amounts of the cues, and the maps."""
        clip = {name: value[None].float() for name, value in zip(INPUTS, inputs, strict=True)}
        # The mean with the mirrored clip: an error to one side cancels out.
        both = {name: torch.cat((value, value.flip(-1) if value.dim() > 3 else value)) for name, value in clip.items()}
        sums, maps = self.reader.sums(both)
        sums, maps = sums.mean(dim=0, keepdim=True), [(part[0] + part[1].flip(-1)) / 2 for part in maps]
        norm = self.reader.standard
        spread = torch.sqrt(norm.running_var + norm.eps)
        # What cannot be measured counts as average.
        heard = (clip["loudness"].sum(dim=1, keepdim=True) > 0).float()
        spoken = (clip["words"].sum(dim=1, keepdim=True) > 0).float()
        known = torch.cat((torch.ones(1, 6), heard, spoken, spoken), dim=1)
        standard = ((sums - norm.running_mean) / spread * known).clamp(-3, 3)
        cues = self.reader.cues(standard)
        cases = torch.cat((cues, cues * (1 - torch.eye(CUES))))
        return (
            torch.sigmoid(self.reader.scores(cases)),
            cues[0],
            *(part / spread[at] for at, part in enumerate(maps)),
        )


INPUTS = (
    "mouth", "mouth_usual", "eyes", "eyes_usual", "body", "body_usual", "face", "pose", "loudness", "letters", "words",
)  # fmt: skip
OUTPUTS = ("scores", "amounts", "mouth_map", "eyes_map", "body_map")


def _halved(seen: Tensor) -> Tensor:
    return functional.avg_pool2d(seen.flatten(0, 1), 2).unflatten(0, (seen.shape[0], seen.shape[1]))
