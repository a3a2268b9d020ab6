"""`bundle data`: make clips, labels and related files."""

import argparse
import secrets
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from bundle_tools.atomic import write_text
from bundle_tools.challenge.enough import CLIPS_TO_RANK, points_apart
from bundle_tools.challenge.landmarks import compute_again, enter_skill_reference
from bundle_tools.challenge.pages.write import write_pages
from bundle_tools.challenge.reading.tables import read_clips
from bundle_tools.cli.filmed import add_exchanges
from bundle_tools.cli.filmed_example import add_example
from bundle_tools.cli.options import add_bundle, add_command, add_path, count, folders_of, positive, workers
from bundle_tools.cli.own_clips import add_own_clips
from bundle_tools.codabench.bounded_yaml import load_bounded
from bundle_tools.codabench.competition import find_root, load
from bundle_tools.codabench.rules.dataset import DataFiles
from bundle_tools.console import counted, progress_bar, say
from bundle_tools.errors import BundleError
from bundle_tools.own_clips.faces import FILE, FoundFace, faces_page, find_faces, write_faces
from bundle_tools.own_clips.mend import mend
from bundle_tools.phase_data.files import KEY_FRAMES_LIST, enter, write_key_frames
from bundle_tools.synthetic.folders import write_committed, write_phase, write_training

if TYPE_CHECKING:
    from pathlib import Path


def add_baselines(kinds: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the kind of data."""
    baselines = add_command(
        kinds, "data baselines", "Compute the scores of simple methods and of the solutions, for reports and pages.",
        "\n--phase practice --run runs/best-practice",
    )  # fmt: skip
    baselines.add_argument(
        "--phase", metavar="PHASE", action="append", help="default: every phase with folders as data"
    )
    add_path(
        baselines, "--solution", "DIR", action="append",
        what="a submission to run (default: the solutions of competition.yaml, unless --run is given)",
    )  # fmt: skip
    add_path(baselines, "--run", "RUN", action="append", default=[],
             what="a submission that was run already: the folder of `bundle run`")  # fmt: skip
    add_path(baselines, "--skill-reference", "RUN",
             what="a run of your best model: its errors earn a skill factor of 1 from now on")  # fmt: skip
    add_bundle(baselines)
    baselines.set_defaults(action=_baselines)


def _baselines(arguments: argparse.Namespace) -> int:
    root = find_root(arguments.bundle)
    if arguments.skill_reference is not None:
        with tempfile.TemporaryDirectory(prefix="bundle-reference-") as scratch:
            for line in enter_skill_reference(load(root), arguments.skill_reference, Path(scratch)):
                say(line)
    compute_again(root, arguments.phase, arguments.solution, arguments.run, trust=arguments.trust)
    return 0


def add_canonical(kinds: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    canonical = add_command(
        kinds, "data canonical", "Bring clips put in by hand into the canonical form, and update their hashes.",
        "input_data/practice",
    )  # fmt: skip
    add_path(canonical, "folder", "FOLDER", "a folder with clips, such as the input data of a phase")
    canonical.set_defaults(action=_canonical)


def _canonical(arguments: argparse.Namespace) -> int:
    with progress_bar("clips") as progress:
        done = mend(arguments.folder, workers(), progress)
    for path, kinds in done.items():
        say(f"{path}: {', '.join(kinds)}")
    say(f"{counted(len(done), 'clip')} replaced." + (" Now: bundle data baselines, then bundle pages." if done else ""))
    return 0


def add_faces(kinds: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    faces = add_command(
        kinds, "data faces", "Find the face in each filmed clip, and write a page for checking the results.", ""
    )
    add_path(faces, "--page", "FILE", "the page for checking (default: private/faces.html in the bundle)")
    faces.add_argument("--replace", action="store_true", help=f"replace {FILE} where there is one")
    add_bundle(faces)
    faces.set_defaults(action=_faces)


def _faces(arguments: argparse.Namespace) -> int:
    root = find_root(arguments.bundle)
    folders: dict[str, Path] = {}
    for phase in load(root).phases:
        input_data, _ = folders_of(phase)
        if (input_data / FILE).exists() and not arguments.replace:
            raise BundleError(
                f"{input_data / FILE} exists already, perhaps corrected by hand. Add --replace to overwrite it."
            )
        folders[phase.slug] = input_data
    clips = {
        name: [(clip_id, input_data / file) for clip_id, file, _ in read_clips(DataFiles(input_data))]
        for name, input_data in folders.items()
    }
    with progress_bar("clips") as progress:
        every = find_faces([clip for of_phase in clips.values() for clip in of_phase], workers(), progress)
    left = iter(every)
    faces: dict[str, list[FoundFace]] = {name: [next(left) for _ in of_phase] for name, of_phase in clips.items()}
    for name, input_data in folders.items():
        write_faces(faces[name], input_data)
        with_box = sum(face.box is not None for face in faces[name])
        say(f"{name}: a face in {with_box} of {len(faces[name])} clips: {input_data / FILE}")
    page = arguments.page or root / "private" / "faces.html"
    page.parent.mkdir(exist_ok=True)
    write_text(page, faces_page(faces))
    say("Framing can be edited in these clips: run bundle data baselines.")
    say(f"Check the faces, and correct or delete wrong ones: {page}. It shows people: keep it private.")
    return 0


def add_key_frames(kinds: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    frames = add_command(
        kinds, "data key-frames", "Make a small picture of each clip of a phase, for its report.", "practice"
    )
    frames.add_argument("phase", metavar="PHASE", help="name of a phase whose report shows true values, e.g. practice")
    add_bundle(frames)
    frames.set_defaults(action=_key_frames)


def _key_frames(arguments: argparse.Namespace) -> int:
    input_data, reference_data = folders_of(load(find_root(arguments.bundle)).phase(arguments.phase))
    settings = reference_data / "task.yaml"
    report = _report(settings)
    if report.get("truth") is not True:
        what = f"{settings}: expected truth: true under report; found {report.get('truth')!r}."
        raise BundleError(f"{what} Clips of a phase that hides its true values must not be shown.")
    if report.get("pictures") is False:
        raise BundleError(
            f"{settings}: expected pictures: true under report; found false. Change it if everybody shown agrees."
        )
    clips = [(clip_id, input_data / file) for clip_id, file, _ in read_clips(DataFiles(input_data))]
    if not clips:
        raise BundleError(f"{input_data}: expected a list of clips. Name it as clips in task.yaml.")
    with progress_bar("clips") as progress:
        size = write_key_frames(clips, reference_data, progress)
    say(f"{len(clips)} key frames, {size / 1000:.0f} kB: {reference_data / KEY_FRAMES_LIST}")
    if enter(settings, {"report.key_frames": KEY_FRAMES_LIST}):
        say(f"Written: key_frames under report in {settings}")
    return 0


def _report(settings: "Path") -> dict[str, object]:
    try:
        content = load_bounded(settings.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BundleError(f"{settings}: {error}. See docs/data_format.md.") from error
    report = content.get("report") if isinstance(content, dict) else None
    return report if isinstance(report, dict) else {}


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
    add_own_clips(kinds)
    add_canonical(kinds)
    add_faces(kinds)
    add_exchanges(kinds)
    add_example(kinds)
    add_key_frames(kinds)


def _synth(arguments: argparse.Namespace) -> int:
    out: Path = arguments.out
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BundleError(f"--out {out}: expected a folder that is empty or new. Choose another one.")
    with progress_bar("clips") as progress:
        write_training(
            out, clips=arguments.clips, seed=arguments.seed, workers=workers(), progress=progress, split=arguments.split
        )
    say(f"{arguments.clips} clips, labels and transcripts: {out}")
    return 0


def _phase(arguments: argparse.Namespace) -> int:
    root = find_root(arguments.bundle)
    phase = load(root).phase(arguments.phase)
    input_data, reference_data = folders_of(phase)
    if (input_data / "clips").exists() and not arguments.replace:
        raise BundleError(f"{input_data / 'clips'} exists already. Add --replace to overwrite its clips and labels.")
    _check_synthetic(phase.slug, input_data, reference_data)
    seed: int = secrets.randbits(SEED_BITS) if arguments.seed is None else arguments.seed
    try:
        with progress_bar("clips") as progress:
            write_phase(
                phase.slug,
                clips=arguments.clips,
                seed=seed,
                input_dir=input_data,
                reference_dir=reference_data,
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
    _update_pages(root, trust=arguments.trust)
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
    _update_pages(root, trust=arguments.trust)
    return 0


def _update_pages(root: Path, *, trust: bool) -> None:
    """Update figures on pages for the new data, and list the changes."""
    for line in write_pages(root, trust=trust):
        say(line)
