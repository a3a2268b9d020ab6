"""Files written atomically."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bundle_tools.errors import BundleError


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside a file, which replaces the file if the block succeeds.

    Until then the old file is kept; if the block fails, nothing is left of the new one.
    """
    unfinished = path.with_name(f".{path.name}.part")
    unfinished.unlink(missing_ok=True)
    try:
        yield unfinished
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    r"""Write a text, also into a folder with untrusted files: the old one or the whole new one. Follow no link.

    Lone surrogates, which JSON can contain but UTF-8 cannot, are escaped: ``\ud800``.

    Raises BundleError if something other than a file is at the path.
    """
    if (path.exists() and not path.is_file()) or path.parent.resolve() == Path("/dev"):  # never replace a device
        raise BundleError(f"{path}: expected a file, or none yet. Name another place.")
    with replaced(path) as draft, draft.open("xb") as stream:  # "x" follows no link
        stream.write(text.encode("utf-8", "backslashreplace"))
