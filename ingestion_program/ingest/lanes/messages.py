"""Works and answers as JSON, for programs side by side and on other machines. Pictures travel as bytes beside it.

Both ends are this program; what a model said is plain text and numbers by the time it gets here.
"""

from __future__ import annotations

import base64
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingest.errors import Problem
from ingest.lanes.asker import Answer, Asking, Pass, Work
from ingest.media.altered.alteration import Alteration, Slow
from ingest.media.altered.exchange import Exchange, Part
from ingest.media.altered.jitter import Jitter
from ingest.media.altered.material import Material
from ingest.media.altered.region import Box, Cells, Outside
from ingest.media.clip import ClipSource
from ingest.model.asking import Told

if TYPE_CHECKING:
    from ingest.media.altered.region import Region

Record = dict[str, Any]


def work_record(work: Work, top: Path) -> Record:
    """Return a work as JSON; files are named from the phase's input folder, `top`."""
    return {
        "clip_id": work.clip_id,
        "askings": [{"shown": clip_record(asking.shown, top), "explains": asking.explains} for asking in work.askings],
    }


def read_work(record: Record, top: Path) -> Work:
    """Return the work of a record; what is shown of one file shares what is read from it."""
    materials: dict[Path, Material] = {}
    askings = [Asking(read_clip(one["shown"], top, materials), one["explains"]) for one in record["askings"]]
    return Work(record["clip_id"], tuple(askings))


def pass_record(how: Pass) -> Record:
    """Return how a pass is asked, as JSON; `Pass(**record)` reads it."""
    return asdict(how)


def answer_record(answer: Answer) -> Record:
    """Return an answer as JSON."""
    told = answer.explanation
    image = None if told is None or told.image is None else base64.b64encode(told.image).decode("ascii")
    return {
        "prediction": answer.prediction,
        "explanation": told and {"text": told.text, "image": image, "evidence": told.evidence},
        "problems": [problem_record(problem) for problem in answer.problems],
        "seconds": answer.seconds,
        "unreadable": answer.unreadable,
        "died": answer.died,
        "took_s": answer.took_s,
    }


def read_answer(record: Record) -> Answer:
    """Return the answer of a record."""
    told = record["explanation"]
    if told is not None:
        image = told["image"] and base64.b64decode(told["image"])
        told = Told(told["text"], image, told["evidence"])
    problems = tuple(read_problem(problem) for problem in record["problems"])
    return Answer(**{**record, "explanation": told, "problems": problems})


def problem_record(problem: Problem) -> Record:
    """Return a problem as JSON, in its own words: what may be told of it is decided later."""
    return asdict(problem)


def read_problem(record: Record) -> Problem:
    """Return the problem of a record."""
    return Problem(**record)


def clip_record(clip: ClipSource, top: Path) -> Record:
    """Return what is shown as JSON; files are named from the phase's input folder, `top`."""
    return {
        "clip_id": clip.clip_id,
        "path": _name(clip.path, top),
        "transcript": clip.transcript,
        "sha256": clip.sha256,
        "alteration": clip.alteration and _alteration_record(clip.alteration, top),
    }


def read_clip(record: Record, top: Path, materials: dict[Path, Material]) -> ClipSource:
    """Return what is shown; `materials` holds what is read from files, and grows."""
    altered = record["alteration"]
    return ClipSource(
        **{
            **record,
            "path": top / record["path"],
            "alteration": altered and _alteration(altered, top, materials),
        }
    )


def _alteration_record(alteration: Alteration, top: Path) -> Record:
    exchange = alteration.exchange
    return {
        "material": _name(alteration.material.path, top),
        "jitter": asdict(alteration.jitter),
        "seed": alteration.seed,
        "copy": alteration.copy and _name(alteration.copy, top),
        "exchange": exchange
        and {
            "path": _name(exchange.path, top),
            "sha256": exchange.sha256,
            "parts": [asdict(part) for part in exchange.parts],
        },
        "exchanged": list(alteration.exchanged),
        "region": _region_record(alteration.region),
        "operator": alteration.operator,
        "seconds": list(alteration.seconds),
        "slow": alteration.slow and asdict(alteration.slow),
        "voice": alteration.voice and _name(alteration.voice, top),
        "brightness": alteration.brightness,
        "zoom": alteration.zoom,
    }


def _alteration(record: Record, top: Path, materials: dict[Path, Material]) -> Alteration:
    path = top / record["material"]
    exchange = record["exchange"]
    return Alteration(
        **{
            **record,
            "material": materials.setdefault(path, Material(path)),
            "jitter": Jitter(**record["jitter"]),
            "copy": record["copy"] and top / record["copy"],
            "exchange": exchange
            and Exchange(top / exchange["path"], exchange["sha256"], tuple(map(_part, exchange["parts"]))),
            "exchanged": tuple(record["exchanged"]),
            "region": _region(record["region"]),
            "seconds": tuple(record["seconds"]),
            "slow": record["slow"] and Slow(**record["slow"]),
            "voice": record["voice"] and top / record["voice"],
        }
    )


def _part(record: Record) -> Part:
    outline = tuple((x, y) for x, y in record["outline"])
    return Part(record["name"], outline, record["event_s"] and (record["event_s"][0], record["event_s"][1]))


def _region_record(region: Region | None) -> Record | None:
    match region:
        case None:
            return None
        case Box():
            return {"box": asdict(region)}
        case Outside(box):
            return {"outside": asdict(box)}
        case Cells():
            return {"cells": asdict(region)}


def _region(record: Record | None) -> Region | None:
    match record:
        case {"box": box}:
            return Box(**box)
        case {"outside": box}:
            return Outside(Box(**box))
        case {"cells": cells}:
            return Cells(**{**cells, "indices": tuple(cells["indices"])})
        case _:
            return None


def _name(path: Path, top: Path) -> str:
    return path.relative_to(top).as_posix()
