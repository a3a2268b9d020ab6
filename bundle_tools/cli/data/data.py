"""`bundle data`: make clips and labels."""

import argparse
import secrets
from pathlib import Path

import yaml

from bundle_tools.challenge.enough_clips import CLIPS_TO_RANK, points_apart
from bundle_tools.challenge.pages.write import write_pages
from bundle_tools.cli.data import faces, key_frames, own_clips, skill_reference
from bundle_tools.cli.data.baselines import add_baselines
from bundle_tools.cli.options import add_bundle, add_command, add_path, count, positive, workers
from bundle_tools.codabench.competition import find_root, load
from bundle_tools.console import progress_bar, say
from bundle_tools.errors import BundleError
from bundle_tools.synthetic.folders import write_committed, write_phase, write_training

PHASE_CLIPS = 24
SEED_BITS = 128
SYNTHETIC = "synthetic"
"""Start of the `data_version` of generated clips."""
SPLITS = ("independent", "stress", "spurious")


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command and its kinds."""
    data = add_command(commands, "data", "Make clips, labels and related files.", "phase final --replace")
    kinds = data.add_subparsers(required=True, metavar="COMMAND")
    synth = add_command(
        kinds, "data synth", "Make a labelled set of synthetic clips.", "--clips 240 --seed 7 --out more_clips"
    )
    synth.add_argument("--clips", metavar="N", type=positive, required=True, help="how many")
    synth.add_argument("--seed", metavar="N", type=count, required=True, help="the same seed gives the same bytes")
    add_path(synth, "--out", "DIR", "a folder that is empty or does not exist yet", required=True)
    synth.add_argument(
        "--split",
        choices=SPLITS,
        default=SPLITS[0],
        help="stress: the causes correlate; spurious: clothes correlate with the main target (default: %(default)s)",
    )
    synth.set_defaults(action=_synth)
    phase = add_command(
        kinds, "data phase", "Make new clips and labels of a phase, from a secret seed.", "final --clips 60 --replace"
    )
    phase.add_argument("phase", metavar="PHASE", help="name of the phase, e.g. final")
    phase.add_argument(
        "--clips", metavar="N", type=positive, default=PHASE_CLIPS, help="how many (default: %(default)s)"
    )
    phase.add_argument(
        "--seed", metavar="N", type=count, help="keep it secret: the labels follow from it (default: a new random one)"
    )
    phase.add_argument("--replace", action="store_true", help="replace the clips and labels that are there")
    add_bundle(phase)
    phase.set_defaults(action=_phase)
    add_baselines(kinds)
    committed = add_command(kinds, "data committed", "Make the data of this repository again.", "")
    add_bundle(committed)
    committed.set_defaults(action=_committed)
    own_clips.add(kinds)
    faces.add(kinds)
    key_frames.add(kinds)
    skill_reference.add(kinds)


def _synth(arguments: argparse.Namespace) -> int:
    out: Path = arguments.out
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BundleError(f"--out {out}: expected a folder that is empty or new. Choose another one.")
    with progress_bar("clips") as progress:
        write_training(
            out,
            clips=arguments.clips,
            seed=arguments.seed,
            workers=workers(),
            progress=progress,
            split=arguments.split,
        )
    say(f"{arguments.clips} clips, labels and transcripts: {out}")
    return 0


def _phase(arguments: argparse.Namespace) -> int:
    root = find_root(arguments.bundle)
    phase = load(root).phase(arguments.phase)
    given, wanted = phase.task.input_data, phase.task.reference_data
    if given is None or wanted is None or given.is_file() or wanted.is_file():
        raise BundleError(f"phase {phase.slug}: expected folders as input and reference data. Add them to its task.")
    if (given / "clips").exists() and not arguments.replace:
        raise BundleError(f"{given / 'clips'} exists already. Add --replace to overwrite its clips and labels.")
    _check_synthetic(phase.slug, given, wanted)
    seed: int = secrets.randbits(SEED_BITS) if arguments.seed is None else arguments.seed
    try:
        with progress_bar("clips") as progress:
            write_phase(
                phase.slug,
                clips=arguments.clips,
                seed=seed,
                input_dir=given,
                reference_dir=wanted,
                workers=workers(),
                progress=progress,
                keep_settings=True,
            )
    except ValueError as error:
        raise BundleError(f"phase {phase.slug}: {error}.") from error
    say(f"{arguments.clips} clips of phase {phase.slug} with the seed {seed}. Keep it secret: it gives the labels.")
    if arguments.clips < CLIPS_TO_RANK:
        apart, enough = points_apart(arguments.clips), points_apart(CLIPS_TO_RANK)
        say(f"Note: with {arguments.clips} clips only differences of {apart:.0f} points or more can be told from luck.")
        say(f"A phase that ranks should have {CLIPS_TO_RANK}: then {enough:.0f} points are enough.")
    _update_pages(root)
    return 0


def _check_synthetic(phase: str, *folders: Path) -> None:
    """Refuse to replace an organiser's own clips, or to put synthetic clips under their settings."""
    for path in (folder / "task.yaml" for folder in folders):
        try:
            settings = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
        except FileNotFoundError:
            continue
        except (OSError, ValueError, yaml.YAMLError) as error:
            raise BundleError(f"{path}: cannot be read. Correct it; `bundle check` tells more.") from error
        version = settings.get("data_version") if isinstance(settings, dict) else None
        if version is not None and not str(version).startswith(SYNTHETIC):
            raise BundleError(
                f"phase {phase}: expected synthetic clips; found data_version: {version} in {path}. This command "
                "would replace them with synthetic clips. If you want that, delete the two folders of the phase first."
            )


def _committed(arguments: argparse.Namespace) -> int:
    root = find_root(arguments.bundle)
    with progress_bar("clips") as progress:
        write_committed(root, workers=workers(), progress=progress)
    say(f"Made again: input_data/, reference_data/ and public_data/ in {root}")
    _update_pages(root)
    return 0


def _update_pages(root: Path) -> None:
    """Update figures on pages for the new data, and list the changes."""
    for line in write_pages(root):
        say(line)
