"""Scores as the worker reads them and tries to send them."""

import json
from pathlib import Path

from bundle_tools.bounded_yaml import load_bounded
from bundle_tools.emulator.failures import RunFailed

# A row of numbers has a few hundred bytes.
LARGEST_BYTES = 10_000_000


class NotSent(Exception):
    """The worker's HTTP client refuses the scores; the status stays Finished all the same."""


def read_scores(output: Path) -> tuple[object, list[str]]:
    """Read `scores.json`, else `scores.txt`, at the root of the scoring output.

    Returns
    -------
    tuple
        What was read, as JSON can carry it, and what a person should know about the file.

    Raises
    ------
    RunFailed
        Where there is no file, or the worker cannot read it.
    NotSent
        Where the worker reads it and cannot send it.
    """
    path = output / "scores.json"
    if not path.exists():
        path = output / "scores.txt"
    if not path.exists():
        raise RunFailed("could not find scores file: the scoring program wrote neither scores.json nor scores.txt.")
    if not path.is_file() or not path.resolve().is_relative_to(output.resolve()):
        raise RunFailed(
            f"{path.name}: expected a file of the scoring output, found a folder, a pipe, or a link to elsewhere. "
            "The worker would read whatever its own disk holds there, or wait for ever."
        )
    if path.stat().st_size > LARGEST_BYTES:
        raise RunFailed(f"{path.name}: expected scores, found {path.stat().st_size / 1e6:.0f} MB.")
    twice: list[str] = []

    def keep_last(pairs: list[tuple[str, object]]) -> dict[str, object]:
        keys = [key for key, _ in pairs]
        twice.extend(sorted({key for key in keys if keys.count(key) > 1}))
        return dict(pairs)

    try:
        text = path.read_text(encoding="utf-8")
        is_json = path.suffix == ".json"
        content = json.loads(text, object_pairs_hook=keep_last) if is_json else load_bounded(text)
    except (OSError, ValueError, RecursionError) as error:
        raise RunFailed(f"{path.name}: expected readable scores, found: {error}.") from error
    try:
        sent = json.loads(json.dumps(content, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        pairs = content.items() if isinstance(content, dict) else []
        what = ", ".join(f"{key}: {value}" for key, value in pairs if not _can_be_sent(value)) or str(error)
        raise NotSent(f"{path.name}: {what}. The worker cannot send NaN, infinity or dates.") from error
    notes = [f"{path.name}: {key} is there twice; the last one counts." for key in twice]
    if not is_json:
        notes.append("scores.txt: read by a YAML loader that may run code. Write scores.json.")
    return sent, notes


def _can_be_sent(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True
