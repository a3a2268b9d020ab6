"""Write a page into a folder with untrusted files."""

from pathlib import Path

from bundle_tools.errors import BundleError
from bundle_tools.whole import replaced


def write_whole(path: Path, text: str) -> None:
    r"""Write a text atomically: the file is the old one or the whole new one. Links are not followed.

    Lone surrogates, which JSON can contain but UTF-8 cannot, are escaped: ``\ud800``.

    Raises BundleError if something other than a file is at the path.
    """
    if (path.exists() and not path.is_file()) or path.parent.resolve() == Path("/dev"):  # never replace a device
        raise BundleError(f"{path}: expected a file, or none yet. Name another place.")
    with replaced(path) as draft, draft.open("xb") as stream:  # "x" follows no link
        stream.write(text.encode("utf-8", "backslashreplace"))
