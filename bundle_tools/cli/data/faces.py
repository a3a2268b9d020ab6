"""`bundle data faces`: boxes of the faces in filmed clips, and a page for checking them."""

import argparse
from pathlib import Path

from bundle_tools.challenge.reading.tables import read_clips
from bundle_tools.cli.options import add_bundle, add_command, add_path, workers
from bundle_tools.codabench.competition import find_root, load
from bundle_tools.codabench.rules.dataset import Dataset
from bundle_tools.console import progress_bar, say
from bundle_tools.errors import BundleError
from bundle_tools.own_clips.faces.find import FoundFace, find_faces
from bundle_tools.own_clips.faces.page import faces_page
from bundle_tools.own_clips.faces.write import FILE, write_faces
from bundle_tools.page import write_page


def add(kinds: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
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
    folders: dict[str, tuple[Path, Path]] = {}
    for phase in load(root).phases:
        given, wanted = phase.task.input_data, phase.task.reference_data
        if given is None or wanted is None or given.is_file() or wanted.is_file():
            raise BundleError(f"phase {phase.slug}: expected folders as input and reference data; found none.")
        if (given / FILE).exists() and not arguments.replace:
            raise BundleError(
                f"{given / FILE} exists already, perhaps corrected by hand. Add --replace to overwrite it."
            )
        folders[phase.slug] = given, wanted
    clips = {
        name: [(clip_id, given / file) for clip_id, file, _ in read_clips(Dataset(given))]
        for name, (given, _) in folders.items()
    }
    with progress_bar("clips") as progress:
        every = find_faces([clip for of_phase in clips.values() for clip in of_phase], workers(), progress)
    left = iter(every)
    found: dict[str, list[FoundFace]] = {name: [next(left) for _ in of_phase] for name, of_phase in clips.items()}
    for name, (given, wanted) in folders.items():
        write_faces(found[name], given, wanted)
        with_box = sum(one.box is not None for one in found[name])
        say(f"{name}: a face in {with_box} of {len(found[name])} clips: {given / FILE}")
    page = arguments.page or root / "private" / "faces.html"
    page.parent.mkdir(exist_ok=True)
    write_page(page, faces_page(found))
    say("The cues face and background were added to the settings: run bundle data baselines, then bundle pages.")
    say(f"Check the faces, and correct or delete wrong ones: {page}. It shows people: keep it private.")
    return 0
