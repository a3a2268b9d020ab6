"""What each finding means: severity, effect and fix of every code, one table per area.

A word in brackets tells apart the rows of one code. Words in braces are filled in where the finding is made.
"""

from bundle_tools.codabench.rules.findings import FAILS_LATER, Finding, Severity

Row = tuple[Severity, str, str]
ALIKE = "Encode all alike (`bundle data from-folder --reencode 360`), with one length, one size and no dates."

PROGRAMS: dict[str, Row] = {
    "program-unasked": (
        "note",
        "This check would run foreign code on this machine.",
        "Unpack the zip and check the folder if you trust it.",
    ),
    "settings-unread": ("error", FAILS_LATER, "Run it: `bundle run`."),
    "settings-refused": ("error", FAILS_LATER, "{fix}"),
    "data-refused": ("error", "Every run fails.", "{fix}"),
    "data-doubted": ("warning", "The program leaves it out.", "{fix}"),
    "columns-revealed": (
        "warning",
        "Participants can read the hidden scores in scores.json.",
        "Write hide_score_output: true.",
    ),
    "columns-primary": (
        "warning",
        "Pages and reports then name a different winner.",
        "Write the index of {first} as primary_index. If this is intended, change the pages.",
    ),
    "columns-order": ("note", "Pages and report show a different order.", "Reorder them."),
    "columns-missing": ("error", "Codabench drops the score.", "Add the column."),
    "columns-computed": ("error", "The server fails while storing the scores.", "Delete the computation."),
    "columns-sorting": ("error", "The worst submission ranks first.", "Write {direction}."),
    "columns-title": ("warning", "Report and leaderboard disagree.", "Use one title."),
    "columns-precision": ("warning", "Differences vanish.", "Write {decimals}."),
    "columns-extra": (
        "error",
        "The column stays n/a, and rows without the primary score rank first.",
        "Delete the column.",
    ),
    "columns-keys": (
        "warning",
        "Codabench drops scores that have no column; their cells show n/a.",
        "Use the same keys in both.",
    ),
    "solution-model": ("error", "Ingestion refuses it.", "Put model.py at its root."),
    "solution-syntax": ("error", "Ingestion refuses it.", "{fix}"),
    "solution-contract": ("error", "Ingestion refuses it.", "{fix}"),
    "page-template": (
        "warning",
        "These pages are never updated.",
        "Correct the template or what it names; `bundle pages --names` lists all names.",
    ),
    "page-edited": (
        "warning",
        "It was edited by hand, so `bundle pages` leaves it, and readers may see a wrong number.",
        "Bring it up to date by hand, or delete it and run `bundle pages`.",
    ),
    "page-figure": ("warning", "Readers see a wrong number.", "Run `bundle pages`."),
}
"""Programs, their columns, and pages and solutions that depend on them."""
PHASES: dict[str, Row] = {
    "open-programs": (
        "warning",
        "They see how the hidden phase is run and scored.",
        "Switch it off, unless this is intended.",
    ),
    "open-input": (
        "warning",
        "They can look at the hidden phase's data and label them by hand.",
        "Switch it off, unless this is intended.",
    ),
    "report-reveals": (
        "error",
        "Anybody can open reports, even when outputs are hidden.",
        "Write truth: false under report.",
    ),
    "phase-open": ("note", "Participants can read what both programs print and write.", "Write hide_output: true."),
    "labels-told": (
        "warning",
        "Submitting variants can gain about {gain:.3f} of skill; expected at most {allowed}.",
        "{fix}",
    ),
    "labels-told (little)": (
        "note",
        "Submitting variants can gain about {gain:.3f} of skill; expected at most {allowed}.",
        "Nothing.",
    ),
    "probes-missing": (
        "warning",
        "The model never sees an altered copy, so every measured axis is 0.",
        "Add probes, or delete the copies.",
    ),
    "probes-time": (
        "warning",
        "Slower models do not reach all altered copies; each one they miss counts as showing nothing.",
        "Use fewer clips or edits, raise the limit on a queue of your own, or say so on a page.",
    ),
    "probes-time (short)": (
        "note",
        "Slower models do not reach all altered copies; each one they miss counts as showing nothing.",
        "Use fewer clips or edits, raise the limit on a queue of your own, or say so on a page.",
    ),
    "yardstick-people": (
        "warning",
        "Maps and timelines are not scored: both axes are 0 for everybody.",
        "Use clips of more people.",
    ),
    "yardstick-kinds": (
        "warning",
        "Maps and timelines are not scored: both axes are 0 for everybody.",
        "Exchange parts of several kinds, such as mouth, eyes and words.",
    ),
    "ranks-filmed": (
        "warning",
        "Their altered copies can be recognised, and an entry that does so may rank above honest ones.",
        "Write rank_by: prediction into task.yaml of the reference data, and the index of skill as primary_index.",
    ),
    "ranks-few": (
        "warning",
        "Between closer totals, luck decides.",
        "With {clips} clips {points} count; else call closer entries equal.",
    ),
    "results-accepted": (
        "note",
        "Anybody can write results by hand, and what needs a running model is not measured.",
        "Say on a page how such entries are ranked.",
    ),
    "results-names": ("warning", "Results can name them only by id, and files of 2017 do not.", "Add their names."),
    "results-idle": ("warning", "They are not used.", "Set results, or delete them."),
    "training-few": (
        "warning",
        "Models trained on so few clips score below the constant, although they fit their training clips well.",
        "Publish more labelled clips: smaller phases leave more of them.",
    ),
    "training-few (drawn)": (
        "warning",
        "Models trained on so few clips score below the constant, although they fit their training clips well.",
        "Leave out --no-training: `bundle build` then draws 240.",
    ),
}
"""What a phase reveals, and whether its time, clips and results suffice."""
CLIPS: dict[str, Row] = {
    "data-targets": (
        "error",
        "Predictions would be scored against other names or ranges.",
        "Make names, order and ranges equal.",
    ),
    "data-challenge": (
        "warning",
        "Reports and their citation line show a different name than the competition.",
        "Write the title here too, and look for the old name in pages and starting kit.",
    ),
    "data-gpu": (
        "warning",
        "Workers of Codabench's default queue have no GPU.",
        "Name a queue whose workers have one.",
    ),
    "data-version": ("error", "Scoring refuses to mix them.", "Generate both together."),
    "data-time-limit": ("error", "Ingestion ends too early, or the platform kills it.", "Write the same number."),
    "clip-unreadable": ("error", FAILS_LATER, "Encode it again as H.264 in MP4."),
    "clip-frames": ("error", "Frames requested by time may be missing.", "Encode it again."),
    "clips-sound": ("note", "Models get no sound for them.", "Check whether the sound was lost."),
    "clips-mixed": (
        "note",
        "Models must cope with all of them.",
        "Encode all clips alike (`bundle data from-folder --reencode 360`), unless this is intended.",
    ),
    "clip-tags": (
        "warning",
        "Tags may name a person, a source or a label; models see pixels and sound only.",
        "Remove them: ffmpeg -i IN -map_metadata -1 -c copy OUT.",
    ),
    "clips-extra": ("warning", "They are packed but never used.", "Delete them."),
    "copies-extra": ("warning", "They are packed but never used.", "Delete them."),
    "exchanges-extra": ("warning", "They are packed but never used.", "Delete them."),
    "copy-differs": ("error", "A model could tell the copy from the clip by its file alone.", "Encode both alike."),
    "exchanges-some": (
        "warning",
        "Places hidden in them are blotted out, and a model can see that.",
        "Make an exchange for every clip, or for none.",
    ),
    "exchange-differs": ("error", "A model could tell the copy from the clip by its file alone.", "Encode both alike."),
    "exchange-outside": (
        "error",
        "Where outlines meet, the copy shows a mixture of both, and a model could recognise it.",
        "Make the outlines larger, or draw and encode the exchange like the clip.",
    ),
    "exchange-meets": (
        "error",
        "Where outlines meet, the copy shows a mixture of both, and a model could recognise it.",
        "Keep the outlines apart.",
    ),
    "giveaway": (
        "error",
        "A model can score without looking at a clip.",
        f"Shuffle and rename the clips at random. {ALIKE}",
    ),
    "giveaway (trace)": (
        "warning",
        "A model can score without looking at a clip.",
        f"Shuffle and rename the clips at random. {ALIKE}",
    ),
    "giveaway (motion)": (
        "warning",
        "What moves makes a filmed clip's file larger: these labels may follow motion.",
        f"{ALIKE} If this stays, compare models with the baseline *File metadata only*.",
    ),
}
"""Both sides of the data, and clips, copies and exchanges."""
REFERENCE: dict[str, Row] = {
    "score-vocabulary": ("error", "Scoring does not know all claims that ingestion accepts.", "Make both lists equal."),
    "labels-clips": ("error", "Such a clip cannot be predicted or cannot be scored.", "Generate both together."),
    "causes-clips": ("warning", "Their entries are ignored.", "Generate both together."),
    "landmarks-missing": (
        "warning",
        "Reports compare scores only with the constant.",
        "Compute them: `bundle data baselines`, or build with --baselines.",
    ),
    "landmarks-stale": (
        "warning",
        "Reports and pages compare scores with outdated values.",
        "Compute them: `bundle data baselines`, or build with --baselines.",
    ),
    "groups-missing": ("error", "Reports say nothing about groups.", "Put it there."),
    "groups-small": ("note", "Reports compare nothing.", "Put values together."),
    "key-frames-picture": (
        "error",
        "The report shows fewer pictures.",
        "Make them again with `bundle data key-frames`.",
    ),
    "causes-misplaced": ("error", "The causes of a label give the label away.", "Delete it there."),
    "groups-misplaced": (
        "error",
        "Models could use this attribute, and participants could read it for every person.",
        "Delete it there.",
    ),
}
"""Reference data."""
SECRETS: dict[str, Row] = {
    "leak": ("error", "Anybody who opens it knows the answers.", "Delete it there."),
    "leak-clip": (
        "error",
        "Participants can train on it, or collect its labels, before the phase begins.",
        "Use other clips there.",
    ),
    "leak-labels": ("error", "Anybody who opens it knows the answers.", "Delete them there."),
    "leak-labels (scoring)": (
        "warning",
        "They become public when the programs do.",
        "Keep them only in the reference data.",
    ),
    "leak-id": (
        "error",
        "Participants see which clips are hidden, and what the file says about them.",
        "Delete the file, or make it again.",
    ),
    "archive-unopened": ("note", "It was not searched for answers.", "Make sure that it contains none."),
    "archive-bomb": ("error", "Unpacking it would fill a disk.", "Check its contents."),
    "data-siblings": (
        "warning",
        "A model that recognises a person can look up the labels of their other clips.",
        "Split by source, or number the sources of each set differently.",
    ),
    "leak-source": (
        "warning",
        "Clips of one person can be linked without watching them, and found elsewhere.",
        "Rename the clips at random.",
    ),
    "leak-transcript": ("warning", "Models read transcripts: they could look the clip up.", "Remove the names."),
    "leak-seal": (
        "error",
        "Anybody with the key can forge a run that scoring accepts.",
        "Delete it there, and make a new key: `bundle build --new-key`.",
    ),
    "leak-seal (open)": (
        "error",
        "Anybody with the key can forge a run that scoring accepts.",
        "Set make_programs_available to false.",
    ),
    "seal-damaged": ("error", FAILS_LATER, "Build the bundle again: `bundle build` puts one key into both programs."),
    "seal-alone": (
        "error",
        "No seal is checked.",
        "Build the bundle again: `bundle build` puts one key into both programs.",
    ),
    "seal-alone (scoring)": (
        "error",
        "Scoring refuses every result as forged.",
        "Build the bundle again: `bundle build` puts one key into both programs.",
    ),
    "seal-differs": (
        "error",
        "Scoring refuses every result as forged.",
        "Build the bundle again: `bundle build` puts one key into both programs.",
    ),
}
"""Labels, clips, people and keys that others could open."""
AREAS = (PROGRAMS, PHASES, CLIPS, REFERENCE, SECRETS)
CODES = {code: row for area in AREAS for code, row in area.items()}


def finding(code: str, where: str, what: str, **words: object) -> Finding:
    """Make a finding of the table.

    `code`: key of its row. `words`: fill its braces.
    """
    severity, effect, fix = CODES[code]
    return Finding(code.partition(" ")[0], severity, where, what, effect.format(**words), fix.format(**words))
