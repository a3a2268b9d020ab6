"""Drawn clips for the detectors: each with its exchange and, for every mixture of both, a clip drawn in one piece."""

import hashlib
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from bundle_tools.synthetic import clip as drawing
from bundle_tools.synthetic.clip import Rendering, encode, render
from bundle_tools.synthetic.dataset import Member, plan
from bundle_tools.synthetic.exchange import FORMAT_VERSION, DrawnPart, as_entry, exchange_of, parts_of, with_others
from bundle_tools.synthetic.person import stream

EXPRESSIVE = ("mouth", "eyes", "hand", "words")
"""Parts of the person, the face first; the others are things."""
PLAIN = "plain"
EXCHANGES = "exchanges.json"
Picture = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Drawn:
    """One clip with its second drawing, and mixtures of both that were drawn as one clip."""

    clip_id: str
    """Opaque name."""
    person: str
    """Opaque name of the person."""
    transcripts: dict[str, str]
    """By name of a file without its ending."""
    folder: Path
    """Holds ``plain.mp4``, ``exchange.mp4``, ``exchanges.json`` and one file for each of the exchanges."""
    exchanged: dict[str, tuple[str, ...]]
    """Exchanged parts, by name of the exchange."""


def draw(folder: Path, *, clips: int, seed: int, workers: int) -> list[Drawn]:
    """Return drawn clips, two of each person; existing clips in `folder` are not drawn again.

    `folder`: where they are kept, separately for each version of the generator.
    """
    members = plan("final", clips=clips, seed=seed)
    sources = sorted(Path(drawing.__file__).parent.glob("*.py"))
    version = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:8]
    make = partial(_make, folder / f"{version}-{seed}-{clips}")
    return list(_map(make, members, workers))


def _exchanges(seed: int, parts: dict[str, DrawnPart], one: Picture, other: Picture) -> dict[str, tuple[str, ...]]:
    """Return by name the sets of parts to exchange: each kind alone, all of the person's, and every part."""
    exchanges: dict[str, tuple[str, ...]] = {name: (name,) for name in EXPRESSIVE if name in parts}
    # A place that is empty in both drawings shows nothing; of the others one is drawn.
    others = {name: part for name, part in parts.items() if name not in EXPRESSIVE}
    things = [name for name, part in others.items() if (one != other)[_mask([part])[..., 0]].any()]
    if things:
        exchanges["thing"] = (things[int(stream(seed, "detect").integers(len(things)))],)
    exchanges["person"] = tuple(name for name in parts if name in EXPRESSIVE)
    exchanges["everything"] = tuple(parts)
    return exchanges


def _make(folder: Path, member: Member) -> Drawn:
    """Draw one clip, unless it is there."""
    cv2.setNumThreads(1)
    target = folder / member.clip_id
    if not target.exists():
        _draw(member, target)
    kept = json.loads((target / "drawn.json").read_text())
    exchanged = {name: tuple(parts) for name, parts in kept["exchanged"].items()}
    return Drawn(member.clip_id, member.source_id, kept["transcripts"], target, exchanged)


def _draw(member: Member, target: Path) -> None:
    listed_parts = parts_of(member.spec)
    first, second = render(member.spec), render(exchange_of(member.spec, listed_parts))
    one, other = list(first.frames), list(second.frames)
    parts = {part.name: part for part in listed_parts}
    exchanged = _exchanges(member.spec.seed, parts, one[0], other[0])
    drawn = {PLAIN: (one, first), "exchange": (other, second)}
    for name, names in exchanged.items():
        if name != "everything":  # that is the second drawing itself
            # Both are the same outside of the parts, so these are the pictures of `with_others(spec, names)`.
            mask = _mask([parts[part] for part in names])
            frames = [np.where(mask, b, a) for a, b in zip(one, other, strict=True)]
            drawn[name] = frames, render(with_others(member.spec, names))
    files = encode([Rendering(iter(frames), whole.sound, whole.transcript) for frames, whole in drawn.values()])
    part = target.with_name(f"{target.name}.part")
    part.mkdir(parents=True, exist_ok=True)
    for name, data in zip(drawn, files, strict=True):
        (part / f"{name}.mp4").write_bytes(data)
    digest = hashlib.sha256((part / "exchange.mp4").read_bytes()).hexdigest()
    listed = {
        "format_version": FORMAT_VERSION,
        "clips": {member.clip_id: as_entry(listed_parts, "exchange.mp4", digest)},
    }
    (part / EXCHANGES).write_text(json.dumps(listed))
    transcripts = {name: whole.transcript for name, (_, whole) in drawn.items()}
    (part / "drawn.json").write_text(json.dumps({"transcripts": transcripts, "exchanged": exchanged}))
    part.rename(target)


def _mask(parts: list[DrawnPart]) -> npt.NDArray[np.bool_]:
    mask = np.zeros((drawing.HEIGHT, drawing.WIDTH, 1), np.uint8)
    for part in parts:
        if part.outline is not None:
            cv2.fillPoly(mask, [np.rint(part.outline).astype(np.int32)], 1)
    return mask.astype(bool)


def _map(make: Callable[[Member], Drawn], members: list[Member], workers: int) -> Iterator[Drawn]:
    if workers == 1:
        yield from map(make, members)
        return
    with ProcessPoolExecutor(workers) as pool:
        for number, drawn in enumerate(pool.map(make, members), 1):
            if number % 10 == 0:
                print(f"  {number} of {len(members)} clips drawn", flush=True)
            yield drawn
