"""The closed list of what scoring can say is wrong; docs/error_codes.md holds the same list for people.

Problems that ingestion recorded are passed on under ingestion's own codes and are not in here.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Code:
    """What one code stands for."""

    kind: str
    """``S``: the submission or its results; ``O``: the organisers' side; ``W``: a warning, the run is scored."""
    meaning: str
    """What has happened, in one line."""
    remedy: str
    """What to do, in one line."""


_LABELS = "correct labels.csv as data_format.md shows"
_KNOWN = "correct the file as data_format.md shows, or take its key out of task.yaml"
_REBUILD = "build the bundle again and upload both programs and all data"
_AGAIN = "submit again; if it happens again, tell the organisers"

CODES: dict[str, Code] = {
    "setting_invalid": Code("O", "A setting of the reference data is missing, misspelt or outside its range.", _LABELS),
    "labels_unreadable": Code(
        "O", "labels.csv is missing or cannot be opened.", "put the file into the reference data"
    ),
    "labels_encoding": Code("O", "labels.csv is not text in UTF-8.", "save it as UTF-8"),
    "labels_csv": Code(
        "O", "labels.csv has a quotation mark that never ends, or a line of more than 128 KiB.", _LABELS
    ),
    "labels_column": Code("O", "A column of labels.csv is missing, unknown or there twice.", _LABELS),
    "labels_row": Code("O", "A row of labels.csv has too few or too many cells.", _LABELS),
    "labels_empty": Code("O", "labels.csv has no clip.", _LABELS),
    "labels_clip_id": Code("O", "A clip id has signs that are not allowed.", _LABELS),
    "labels_source": Code("O", "A clip has no source_id.", _LABELS),
    "label_duplicate": Code("O", "A clip has two rows of labels.", _LABELS),
    "label_missing": Code("O", "A clip that was run, or a cell, has no label.", _LABELS),
    "label_not_a_number": Code("O", "A label is not a finite number.", _LABELS),
    "label_out_of_range": Code("O", "A label is outside its target's range.", _LABELS),
    "causes_broken": Code("O", "causes.json is missing, or something in it has another form.", _KNOWN),
    "causes_missing": Code("O", "A clip of the reference has no known causes although the file is given.", _KNOWN),
    "observations_broken": Code("O", "observations.json is missing, or something in it has another form.", _KNOWN),
    "groups_broken": Code("O", "groups.csv cannot be read, or something in it has another form.", _KNOWN),
    "landmarks_broken": Code(
        "O", "landmarks.json cannot be read, or something in it has another form.", "run bundle data baselines again"
    ),
    "key_frames_broken": Code(
        "W", "The list of key frames, or a row of it, has another form; the report shows fewer pictures.", _KNOWN
    ),
    "jury_broken": Code(
        "O", "jury.json is missing, or something in it has another form.", "run bundle jury score --write again"
    ),
    "version_mismatch": Code("O", "Input data and reference data belong to different versions or phases.", _REBUILD),
    "seal_key_broken": Code("O", "The bundle's key is damaged.", _REBUILD),
    "format_differs": Code("O", "Ingestion wrote another version of the format than scoring reads.", _REBUILD),
    "release_differs": Code("W", "Ingestion and scoring are from different releases.", _REBUILD),
    "results_missing": Code(
        "S", "The prediction step left nothing that could be scored: most often it was killed.", _AGAIN
    ),
    "own_command_ran": Code(
        "S",
        "A command of the submission ran beside ingestion, so the results may not be its model's.",
        "leave metadata and metadata.yaml out of the zip",
    ),
    "record_of_another": Code("S", "The record of a run belongs to another submission.", "submit your own model alone"),
    "ingestion_failed": Code("S", "There is a record of a run, but ingestion did not end as after a run.", _AGAIN),
    "results_unsealed": Code("S", "The results do not carry the seal of this bundle's ingestion program.", _AGAIN),
    "results_damaged": Code("S", "A listed file is missing, a link, too large or not the one that was listed.", _AGAIN),
    "run_record_broken": Code("S", "run.json cannot be read.", _AGAIN),
    "record_broken": Code(
        "S", "A line of the records cannot be read; as the last line of a file it costs one clip.", _AGAIN
    ),
    "run_invalid": Code("S", "Ingestion found the submission invalid and did not say why.", "read ingestion's log"),
    "run_stopped": Code(
        "O", "Ingestion stopped over the organisers' data and did not say why.", "read ingestion's log"
    ),
    "clips_undecodable": Code("O", "Clips could not be decoded and are left out for everybody.", "replace the files"),
    "clips_missing": Code(
        "W", "Clips of the reference have no usable record; each is scored with the worst value.", _AGAIN
    ),
    "records_stray": Code("W", "Records of clips that clips.jsonl does not have; ignored.", _AGAIN),
    "files_ignored": Code("W", "Files lie beside the results that ingestion did not write; ignored.", "leave them out"),
    "protected_attribute": Code(
        "W",
        "Explanations name a protected attribute of a person, such as sex, age or ethnicity; it is in no score.",
        "describe what can be seen and heard",
    ),
    "internal_error": Code("O", "The scoring program itself failed; never the participant's fault.", "run it by hand"),
}
