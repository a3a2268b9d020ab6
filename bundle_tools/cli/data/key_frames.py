"""`bundle data key-frames`: one small picture of each clip for the report."""

import argparse
from typing import TYPE_CHECKING

from bundle_tools.challenge.key_frames import LIST, write_key_frames
from bundle_tools.challenge.reading.tables import read_clips
from bundle_tools.cli.options import add_bundle, add_command
from bundle_tools.codabench.bounded_yaml import load_bounded
from bundle_tools.codabench.competition import find_root, load
from bundle_tools.codabench.rules.dataset import Dataset
from bundle_tools.console import progress_bar, say
from bundle_tools.errors import BundleError
from bundle_tools.phase_data.entering import enter

if TYPE_CHECKING:
    from pathlib import Path


def add(kinds: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    frames = add_command(
        kinds, "data key-frames", "Make a small picture of each clip of a phase, for its report.", "practice"
    )
    frames.add_argument("phase", metavar="PHASE", help="name of a phase whose report shows true values, e.g. practice")
    add_bundle(frames)
    frames.set_defaults(action=_key_frames)


def _key_frames(arguments: argparse.Namespace) -> int:
    phase = load(find_root(arguments.bundle)).phase(arguments.phase)
    given, wanted = phase.task.input_data, phase.task.reference_data
    if given is None or wanted is None or given.is_file() or wanted.is_file():
        raise BundleError(f"phase {phase.slug}: expected folders as input and reference data. Add them to its task.")
    settings = wanted / "task.yaml"
    report = _report(settings)
    if report.get("truth") is not True:
        what = f"{settings}: expected truth: true under report; found {report.get('truth')!r}."
        raise BundleError(f"{what} Clips of a phase that hides its true values must not be shown.")
    if report.get("pictures") is False:
        raise BundleError(
            f"{settings}: expected pictures: true under report; found false. Change it if everybody shown agrees."
        )
    clips = [(clip_id, given / file) for clip_id, file, _ in read_clips(Dataset(given))]
    if not clips:
        raise BundleError(f"{given}: expected a list of clips. Name it as clips in task.yaml.")
    with progress_bar("clips") as progress:
        size = write_key_frames(clips, wanted, progress)
    say(f"{len(clips)} key frames, {size / 1000:.0f} kB: {wanted / LIST}")
    if enter(settings, {"report.key_frames": LIST}):
        say(f"Written: key_frames under report in {settings}")
    return 0


def _report(settings: "Path") -> dict[str, object]:
    try:
        content = load_bounded(settings.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BundleError(f"{settings}: {error}. See docs/data_format.md.") from error
    report = content.get("report") if isinstance(content, dict) else None
    return report if isinstance(report, dict) else {}
