"""Make a jury from the finalists' results: a key, and a self-contained page for each juror."""

import base64
import io
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from av.container import InputContainer
from numpy.typing import NDArray

from bundle_tools.atomic import write_text
from bundle_tools.challenge.compare.runs import Run
from bundle_tools.challenge.jury.criteria import Rules, write_key
from bundle_tools.challenge.jury.design import (
    MOST_TEAMS,
    Balance,
    Design,
    Final,
    ShownItem,
    balance_of,
    choose_clips,
    gather,
    plan,
)
from bundle_tools.codabench.competition import Phase
from bundle_tools.console import Progress
from bundle_tools.errors import BundleError
from bundle_tools.page import as_script, render
from score.report.drawings import data_uri
from score.visible import visible

LARGEST_SIDE = 640
_QUALITY = "26"  # constant rate factor: no visible loss at this size
_MOST_BITS = 400_000
"""Most bits per second of video: a sheet with 15 clips of 15 s then stays under 20 MB and can be mailed."""
_SOUND_BITS = 64_000
_STAYS_BITS = 1_000_000
"""Most bits per second of a clip that is copied unchanged."""
_SOUND = 48_000
_PLAYED_SOUND = frozenset({"aac", "mp3"})


def for_browser(path: Path) -> bytes:
    """Return a clip as MP4 with H.264 and AAC, at most 640 pixels wide or high; a small clip in this form is kept.

    Raises BundleError when the clip cannot be decoded or encoded.
    """
    try:
        with av.open(str(path)) as source:
            return path.read_bytes() if _plays(source) else _transcoded(source)
    except (av.error.FFmpegError, OSError, IndexError, ValueError) as error:
        what = f"{path}: cannot be read, or cannot be made playable ({type(error).__name__})"
        raise BundleError(f"{what}. Run `bundle check`, or convert the clip to MP4 with H.264.") from error


def _plays(source: InputContainer) -> bool:
    picture = source.streams.video[0].codec_context
    return (
        "mp4" in source.format.name
        and picture.name == "h264"
        and picture.pix_fmt == "yuv420p"
        and max(picture.width, picture.height) <= LARGEST_SIDE
        and source.bit_rate <= _STAYS_BITS
        and all(stream.codec_context.name in _PLAYED_SOUND for stream in source.streams.audio)
    )


def _transcoded(source: InputContainer) -> bytes:
    target = io.BytesIO()
    given = source.streams.video[0]
    scale = min(1.0, LARGEST_SIDE / max(given.width, given.height))
    with av.open(target, "w", format="mp4") as made:
        options = {"crf": _QUALITY, "preset": "veryfast", "maxrate": str(_MOST_BITS), "bufsize": str(2 * _MOST_BITS)}
        video = made.add_stream("libx264", rate=given.average_rate or Fraction(25), options=options)
        video.pix_fmt = "yuv420p"
        if given.time_base is not None:  # frames keep their own times, which may be uneven
            video.codec_context.time_base = given.time_base
        sound = made.add_stream("aac", rate=_SOUND, layout="mono") if source.streams.audio else None
        if sound is not None:
            sound.bit_rate = _SOUND_BITS
        turned, samples = None, 0
        for frame in source.decode():
            if isinstance(frame, av.VideoFrame):
                if turned is None:  # phones store pictures unrotated, with the rotation as metadata
                    turned = round(frame.rotation / 90) % 4
                    sides = (given.height, given.width) if turned % 2 else (given.width, given.height)
                    video.width, video.height = (max(2, round(side * scale / 2) * 2) for side in sides)
                made.mux(video.encode(_upright(frame, turned, video.width, video.height)))
            elif sound is not None and isinstance(frame, av.AudioFrame):
                # Samples without their own times, which would not match where a recording has gaps.
                frame.pts, frame.time_base = samples, Fraction(1, frame.sample_rate)
                samples += frame.samples
                made.mux(sound.encode(frame))
        for stream in (video, sound):
            if stream is not None:
                made.mux(stream.encode())
    return target.getvalue()


def _upright(frame: av.VideoFrame, turned: int, width: int, height: int) -> av.VideoFrame:
    """Scale a frame, after rotating it counter-clockwise by some right angles."""
    if not turned:
        return frame.reformat(width, height, "yuv420p")
    pixels: NDArray[np.uint8] = np.ascontiguousarray(np.rot90(frame.to_ndarray(format="rgb24"), turned), np.uint8)
    picture = av.VideoFrame.from_ndarray(pixels, "rgb24")
    picture.pts, picture.time_base = frame.pts, frame.time_base
    return picture.reformat(width, height, "yuv420p")


KEY = "key.json"


@dataclass(frozen=True)
class JuryFiles:
    """The written files."""

    design: Design
    balance: Balance
    """How evenly its clips are spread over labels and groups."""
    sheets: tuple[Path, ...]
    key: Path
    """For the organiser alone."""


def make_jury(
    phase: Phase,
    runs: Sequence[Run],
    out: Path,
    *,
    jurors: int,
    clips: int,
    rules: Rules,
    seed: str,
    scratch: Path,
    progress: Progress | None = None,
) -> JuryFiles:
    """Write the sheets and the key of a jury; all of them or nothing.

    `runs`: finalists, 2 to 26.
    `out`: a folder that does not exist yet.
    `jurors` and `clips`: numbers, >= 1. Fewer clips are taken if the phase has fewer people.
    `seed`: any text; the same text gives the same jury.
    Raises BundleError if `out` exists, or something about the runs or clips is wrong.
    """
    if out.exists():
        raise BundleError(f"{out}: exists already. Name another folder, so that its key is not lost.")
    if len(runs) > MOST_TEAMS:
        raise BundleError(f"expected at most {MOST_TEAMS} runs, found {len(runs)}. A jury is for finalists.")
    final = gather(phase, runs, scratch)
    chosen = choose_clips(final, clips, seed)
    videos = {}
    for number, clip_id in enumerate(chosen, 1):
        videos[clip_id] = for_browser(final.clips[clip_id])
        if progress:
            progress(number, len(chosen))
    design = plan(phase.slug, final, chosen, jurors, rules, seed)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as folder:
        place = Path(folder) / "jury"
        place.mkdir()
        for juror in range(jurors):
            page = sheet_page(design, juror, final, rules, videos)
            write_text(place / _sheet(juror), page)
        write_key(place / KEY, design.key)
        place.replace(out)
    return JuryFiles(
        design, balance_of(final, chosen), tuple(out / _sheet(juror) for juror in range(jurors)), out / KEY
    )


def _sheet(juror: int) -> str:
    return f"sheet-{juror + 1}.html"


def sheet_page(design: Design, juror: int, final: Final, rules: Rules, videos: dict[str, bytes]) -> str:
    """Write one juror's page.

    `juror`: from 0. `videos`: by clip id, as MP4. Returns self-contained HTML, without teams, kinds of items, true
    values and scores.
    """
    places = {clip_id: number for number, clip_id in enumerate(design.key.clips)}
    content = {
        "sheet": design.key.sheets[juror],
        "design": design.key.design,
        "juror": juror + 1,
        "jurors": len(design.key.sheets),
        "target": final.settings.main.title,
        "drawn": final.settings.data_version.startswith("synthetic"),
        "targets": [
            {"title": target.title, "low": target.minimum, "high": target.maximum} for target in final.settings.targets
        ],
        "main": final.main,
        "lowest": rules.lowest,
        "highest": rules.highest,
        "criteria": [
            {
                "name": criterion.name,
                "title": criterion.title,
                "question": criterion.question,
                "anchors": [{"value": value, "text": text} for value, text in sorted(criterion.anchors.items())],
            }
            for criterion in rules.criteria
        ],
        "items": [_item(design.shown[item_id], places, final) for item_id in design.orders[juror]],
    }
    clips = [base64.b64encode(videos[clip_id]).decode() for clip_id in design.key.clips]
    return render(Path(__file__).parent / "templates", "sheet", sheet=content, content=as_script(content), clips=clips)


def _item(shown: ShownItem, places: dict[str, int], final: Final) -> dict[str, Any]:
    image = None
    if shown.image:
        finalist, path = shown.image
        image = data_uri((final.finalists[finalist].folder / path).read_bytes())
    return {
        "id": shown.item.item_id,
        "clip": places[shown.item.clip_id],
        "text": visible(shown.text),
        "image": image or "",
        "values": [round(value, 3) for value in shown.values],
    }
