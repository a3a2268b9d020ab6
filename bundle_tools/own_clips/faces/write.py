"""Write the boxes of faces to a phase's data, and name them in its settings."""

from collections.abc import Sequence
from pathlib import Path

import yaml

from bundle_tools.errors import BundleError
from bundle_tools.own_clips.faces.find import FoundFace
from bundle_tools.phase_data.entering import enter
from bundle_tools.phase_data.settings import TRIED_WITH_FACES
from bundle_tools.phase_data.tables import write_table

FILE = "faces.csv"
COLUMNS = ("clip_id", "left", "top", "right", "bottom")


def write_faces(found: Sequence[FoundFace], given: Path, wanted: Path) -> None:
    """Write the table of one phase, and allow face and background as tested cues.

    `found`: the faces found in its clips; clips without a box are left out. Raises BundleError when a settings file
    cannot be changed.
    """
    rows = [(one.clip_id, *(f"{edge:.4f}" for edge in one.box)) for one in found if one.box is not None]
    write_table(given / FILE, COLUMNS, sorted(rows))
    settings = given / "task.yaml"
    try:
        cues = yaml.safe_load(settings.read_text("utf-8"))["explanation"]["evidence"]["cues"]
    except (KeyError, TypeError, yaml.YAMLError) as error:
        raise BundleError(
            f"{settings}: expected explanation.evidence.cues; found none. See docs/data_format.md."
        ) from error
    vocabulary = [*cues, *(cue for cue in TRIED_WITH_FACES if cue not in cues)]
    enter(settings, {"faces": FILE, "explanation.evidence.cues": vocabulary})
    enter(wanted / "task.yaml", {"explanation_score.vocabulary": vocabulary})
