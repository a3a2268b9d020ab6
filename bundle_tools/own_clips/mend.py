"""Bring the clips of a folder into the canonical form, with their hashes in its lists."""

import hashlib
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from av.error import FFmpegError

from bundle_tools.canonical import canonical, differences
from bundle_tools.console import Progress
from bundle_tools.decoding import Unusable
from bundle_tools.errors import BundleError
from bundle_tools.own_clips.folder import VIDEOS
from bundle_tools.own_clips.writing import SUMS, replace_listed


def mend(folder: Path, workers: int, progress: Progress | None = None) -> dict[Path, Sequence[str]]:
    """Replace clips that are not canonical, under their names, and their hashes in lists of the folder or its data set.

    Returns the kinds of differences of each replaced clip. Raises BundleError with all clips that cannot be used; the
    others are done.
    """
    clips = sorted(path for path in folder.rglob("*") if path.name.lower().endswith(VIDEOS) and path.is_file())
    if not clips:
        raise BundleError(f"{folder}: expected a folder with clips, such as a phase's input data; found none.")
    # A phase's folder lies in a data set, whose lists name its clips, too.
    around = next((above for above in (folder, *folder.parents) if _lists(above, clips[0])), folder)
    lists = {path: path.read_text("utf-8") for form in ("*.csv", "*.json") for path in around.rglob(form)}
    done: dict[Path, Sequence[str]] = {}
    broken = []
    with ThreadPoolExecutor(workers) as pool:
        for number, (path, made) in enumerate(zip(clips, pool.map(_mended, clips), strict=True), start=1):
            if isinstance(made, str):
                broken.append(f"{path.name}: {made}")
            elif made is not None:
                data, before, done[path] = made
                replace_listed(around, path, data)
                for listing, text in lists.items():
                    lists[listing] = re.sub(before, hashlib.sha256(data).hexdigest(), text, flags=re.IGNORECASE)
                    if lists[listing] != text:
                        replace_listed(around, listing, lists[listing].encode())
            if progress is not None:
                progress(number, len(clips))
    if broken:
        raise BundleError(f"{len(broken)} clips cannot be used: {'; '.join(broken)}. Replace them, and run this again.")
    return done


def _lists(folder: Path, clip: Path) -> bool:
    sums = folder / SUMS
    return sums.is_file() and f"  {clip.relative_to(folder).as_posix()}\n" in sums.read_text("utf-8")


def _mended(path: Path) -> tuple[bytes, str, Sequence[str]] | str | None:
    """Return a clip's new content, its old hash and what it lacked; None if it is canonical; a text if it is broken."""
    try:
        content = path.read_bytes()
        if not (gaps := differences(content)):
            return None
        return canonical(content)[0], hashlib.sha256(content).hexdigest(), [gap.kind for gap in gaps]
    except (Unusable, FFmpegError, ValueError, OSError) as error:
        return str(error)
