"""Writing a page into a folder whose files are not trusted."""

from pathlib import Path

from bundle_tools.errors import BundleError
from bundle_tools.whole import replaced


def write_whole(path: Path, text: str) -> None:
    r"""Write a text atomically: the file is the old one or the whole new one. Links are not followed.

    Half a character, which JSON can hold and UTF-8 cannot, is written out: ``\ud800``.

    Raises
    ------
    BundleError
        If there is something else than a file at the path.
    """
    if (path.exists() and not path.is_file()) or path.parent.resolve() == Path("/dev"):  # never replace a device
        raise BundleError(f"{path}: expected a file, or none yet. Name another place.")
    with replaced(path) as draft, draft.open("xb") as stream:  # "x" follows no link
        stream.write(text.encode("utf-8", "backslashreplace"))
