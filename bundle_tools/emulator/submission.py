"""A submission's zip, looked over before the run: the platform takes these as they are."""

import zipfile
from pathlib import Path, PurePosixPath

JUNK = frozenset({"__MACOSX", ".DS_Store", "Thumbs.db", "__pycache__"})


def look_over(archive: Path) -> list[str]:
    """Tell what will surprise the person who made the zip; a file that is no zip gets no notes here."""
    try:
        with zipfile.ZipFile(archive) as opened:
            names = [PurePosixPath(info.filename) for info in opened.infolist() if not info.is_dir()]
    except (OSError, ValueError, RuntimeError, NotImplementedError, zipfile.BadZipFile):
        return []
    junk = sorted({part for name in names for part in name.parts if part in JUNK})
    own = [name for name in names if not JUNK.intersection(name.parts)]
    notes = []
    if junk:
        notes.append(f"submission: it holds {', '.join(junk)}. Leave that out of the zip.")
    if own and len({name.parts[0] for name in own}) == 1 and all(len(name.parts) > 1 for name in own):
        folder = own[0].parts[0]
        notes.append(
            f"submission: all files lie in the folder {folder!r}, and there the platform leaves them. "
            "Zip what is inside the folder."
        )
    return notes
