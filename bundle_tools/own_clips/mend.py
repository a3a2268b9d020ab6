"""Bring the clips of a folder into the canonical form, with their hashes in its lists."""

import hashlib
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from av.error import FFmpegError

from bundle_tools.atomic import replaced, write_text
from bundle_tools.canonical import canonical, differences
from bundle_tools.console import Progress
from bundle_tools.decoding import Unusable
from bundle_tools.errors import BundleError
from bundle_tools.own_clips.folder import VIDEOS


def mend(folder: Path, workers: int, progress: Progress | None = None) -> dict[Path, Sequence[str]]:
    """Replace clips that are not canonical, under their names, and their hashes in CSV and JSON files of the folder.

    Returns the kinds of differences of each replaced clip. Raises BundleError with all clips that cannot be used; the
    others are done.
    """
    clips = sorted(path for path in folder.rglob("*") if path.name.lower().endswith(VIDEOS) and path.is_file())
    if not clips:
        raise BundleError(f"{folder}: expected a folder with clips, such as a phase's input data; found none.")
    lists = {path: path.read_text("utf-8") for path in (*folder.glob("*.csv"), *folder.glob("*.json"))}
    done: dict[Path, Sequence[str]] = {}
    broken = []
    with ThreadPoolExecutor(workers) as pool:
        for number, (path, made) in enumerate(zip(clips, pool.map(_mended, clips), strict=True), start=1):
            if isinstance(made, str):
                broken.append(f"{path.name}: {made}")
            elif made is not None:
                data, before, done[path] = made
                with replaced(path) as unfinished:
                    unfinished.write_bytes(data)
                for listing, text in lists.items():
                    lists[listing] = re.sub(before, hashlib.sha256(data).hexdigest(), text, flags=re.IGNORECASE)
                    if lists[listing] != text:
                        write_text(listing, lists[listing])
            if progress is not None:
                progress(number, len(clips))
    if broken:
        raise BundleError(f"{len(broken)} clips cannot be used: {'; '.join(broken)}. Replace them, and run this again.")
    return done


def _mended(path: Path) -> tuple[bytes, str, Sequence[str]] | str | None:
    """Return a clip's new content, its old hash and what it lacked; None if it is canonical; a text if it is broken."""
    try:
        content = path.read_bytes()
        if not (gaps := differences(content)):
            return None
        return canonical(content)[0], hashlib.sha256(content).hexdigest(), [gap.kind for gap in gaps]
    except (Unusable, FFmpegError, ValueError, OSError) as error:
        return str(error)
