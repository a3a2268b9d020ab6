"""The questions to the two programs: how they read a task's settings, and whether they accept its data."""

from bundle_tools.challenge.rules.programs.asking import Question

INGESTION = Question(
    program="ingestion_program",
    data="input_data",
    marker="ingest/settings.py",
    code="""\
from ingest.settings import read_task
def tell(path):
    read_task(path)
    return {}
def look(folder):
    from ingest.clips.footage import read_footage
    from ingest.results.names import older_names
    task = read_task(folder / "task.yaml")
    footage = read_footage(folder, task)
    if task.aliases_file:
        older_names(folder / task.aliases_file, [clip.clip_id for clip in footage.clips])
    return ()
""",
)
SCORING = Question(
    program="scoring_program",
    data="reference_data",
    marker="score/columns.py",
    code="""\
from dataclasses import asdict, is_dataclass
from score.columns import columns
from score.settings import read_settings
COLUMN = ("key", "title", "direction", "decimals", "minimum", "maximum", "chance", "meaning")
COLUMN += ("of_people", "of_labels", "closed_spread")
try:
    from score.axes.known_causes import PART_WEIGHTS
    from score.measure.noise import SMALLEST_EFFECT
    from score.evaluation.fairness import ENOUGH_PEOPLE
    from score.text.levels import BANDS
    CONSTANTS = {
        "claims_of_causes": PART_WEIGHTS[0],
        "epsilon_least": SMALLEST_EFFECT,
        "people_a_group": ENOUGH_PEOPLE,
        **{f"level_{level}": list(limits) for level, limits in BANDS.items()},
    }
except ImportError:
    CONSTANTS = {}  # a program with other axes has its columns all the same
def tell(path):
    settings = read_settings(path)
    told = [{field: getattr(column, field, None) for field in COLUMN} for column in columns(settings)]
    known = asdict(settings) if is_dataclass(settings) else {}
    return {"columns": told, "settings": known, "constants": CONSTANTS}
def look(folder):
    from score.errors import ScoringError
    from score.read.reference.jury import read_jury
    from score.read.reference.key_frames import read_key_frames
    from score.read.reference.known import read_known
    from score.read.reference.labels import read_reference
    from score.read.reference.landmarks import read_landmarks
    settings = read_settings(folder / "task.yaml")
    reference = read_reference(folder / "labels.csv", settings)
    problems = [*read_key_frames(folder, settings.report.key_frames, reference.clip_ids).problems]
    for read in (
        lambda: read_known(folder, settings, reference),
        lambda: read_landmarks(folder, settings),
        lambda: settings.jury and read_jury(folder / settings.jury),
    ):
        try:
            read()
        except ScoringError as error:
            problems += error.problems
    return problems
""",
)
