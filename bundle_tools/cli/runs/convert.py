"""`bundle convert`: from the files of 2017 to this challenge's records."""

import argparse
import tempfile
from pathlib import Path

from bundle_tools.challenge.convert import read_names, write_records
from bundle_tools.cli.options import add_command, add_path
from bundle_tools.console import progress_bar, say
from bundle_tools.errors import BundleError


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    convert = add_command(
        commands, "convert", "Turn the files of 2017 into this challenge's records.",
        "files_2017 --out records --target neuroticism=emotional_stability",
    )  # fmt: skip
    add_path(convert, "source", "SOURCE", what="a folder with prediction.pkl, and perhaps description.pkl")
    add_path(convert, "--out", "DIR", "a folder that is empty or does not exist yet", required=True)
    add_path(convert, "--aliases", "FILE", "a table clip_id,name with the older names of clips")
    convert.add_argument(
        "--target", metavar="OLDER=OWN", action="append", default=[],
        help="an older name of a target, e.g. neuroticism=emotional_stability; values stay as they are",
    )  # fmt: skip
    convert.set_defaults(action=_convert)


def _convert(arguments: argparse.Namespace) -> int:
    source, out = arguments.source, arguments.out
    if not source.is_dir():
        raise BundleError(f"{source}: expected a folder. Unpack it first.")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BundleError(f"--out {out}: expected a folder that is empty or new. Choose another one.")
    names = read_names(arguments.aliases, arguments.target)
    out.parent.mkdir(parents=True, exist_ok=True)
    # Written elsewhere and moved, so that it is never incomplete.
    with tempfile.TemporaryDirectory(prefix=".convert-", dir=out.parent) as scratch, progress_bar("clips") as progress:
        records = Path(scratch) / "records"
        records.mkdir()
        clips = write_records(source, records, names, progress)
        if out.exists():
            out.rmdir()
        records.rename(out)
    say(f"{len(clips)} clips: {', '.join(sorted(path.name for path in out.iterdir()))} in {out}")
    if unused := sorted(names.clips.keys() - set(clips)):
        say(f"--aliases {arguments.aliases}: {len(unused)} names match no clip: {', '.join(unused)}")
    return 0
