"""The closed list of problem codes, each with its meaning and its fix. `docs/error_codes.md` lists them for people.

In a hidden phase messages use only these texts, so none may depend on a clip or a model.
"""

# ruff: noqa: E501 - a table, one row a code
from dataclasses import dataclass
from typing import Literal

Stage = Literal["settings", "data", "load", "predict", "explain", "run"]
Kind = Literal["S", "C", "W", "O"]
KINDS: dict[Kind, str] = {
    "S": "the submission cannot be judged",
    "C": "it costs a clip, or the part of an explanation that is wrong",
    "W": "a warning; it costs nothing",
    "O": "the organisers' fault, or that of the machine",
}


@dataclass(frozen=True)
class Code:
    """One entry of the list."""

    name: str
    """Stable name in snake_case."""
    kind: Kind
    """Who must act, and how severe the problem is."""
    stages: tuple[Stage, ...]
    found: str
    expected: str
    fix: str


_CALLS: tuple[Stage, ...] = ("predict", "explain")
_PROCESS: tuple[Stage, ...] = ("load", *_CALLS)

_SUBMISSION = (
    Code("submission_missing", "S", ("load",), "no submission", "the unzipped submission", "upload a zip"),
    Code("metadata_present", "S", ("load",), "a file called metadata", "no such file", "remove it from the zip"),
    Code("model_missing", "S", ("load",), "no model.py", "model.py at the top of the zip", "zip the files, not the folder"),
    Code("submission_too_large", "S", ("load",), "too many megabytes", "a submission within the limit", "remove what the model does not need"),
    Code("submission_too_many_files", "S", ("load",), "too many files", "a submission within the limit", "remove what the model does not need"),
    Code("syntax_error", "S", ("load",), "source that cannot be read", "Python of the image's version, in UTF-8", "correct that line"),
    Code("module_missing", "S", ("load",), "an import that is not installed", "the standard library, the image's packages, your own modules", "put the module into the zip; run a network as ONNX, with onnxruntime"),
    Code("import_raised", "S", ("load",), "an error while importing model.py", "a model.py that can be imported", "correct that line"),
    Code("class_missing", "S", ("load",), "no class Model", "one class called Model", "name your class Model"),
    Code("method_missing", "S", ("load",), "a method is missing", "__init__, predict and explain", "add the method"),
    Code("signature_wrong", "S", ("load",), "a method with the wrong arguments, or one that yields or awaits", "__init__(self, assets), predict(self, clip), explain(self, clip, prediction)", "write the method like that"),
    Code("constructor_raised", "S", ("load",), "an error in Model(assets)", "a model", "correct that line; open files below assets"),
    Code("load_failed", "S", ("load",), "an unreadable report from the model process", "a loaded model, or a known reason", "do not write to inherited file descriptors"),
    Code("every_clip_failed", "S", ("run",), "the same error on every clip tried", "an answer for at least one clip", "correct that error; test at home with `kit.py check SUBMISSION --run 3` of the starting kit"),
    Code("results_ignored", "W", ("load",), "files named like results", "model.py and what it needs", "rename or remove them: only what ingestion records counts, and they may get in its way (results_damaged)"),
    Code("results_refused", "S", ("load",), "results instead of code", "model.py, which this phase runs itself", "submit the model that made them"),
    Code("results_ambiguous", "S", ("load",), "more than one file of predictions", "one file of predictions", "keep only the one that counts"),
    Code("results_unreadable", "S", ("load",), "a file of results that cannot be read", "data in the format of docs/results_2017.md", "write the file again; try it at home with `kit.py run` of the starting kit"),
    Code("install_ignored", "W", ("load",), "files that would install something", "nothing to install", "put modules into the zip; the image's packages are fixed"),
    Code("name_taken", "W", ("load",), "files named like installed modules", "names that no installed module has", "rename them; otherwise the model imports them instead"),
    Code("credits_broken", "W", ("load",), "mistakes in credits.yaml", "the format that the page Submission shows", "correct them; wrong entries are ignored"),
    Code("training_broken", "W", ("load",), "mistakes in training.json", "the format that docs/output_format.md shows", "let training.py of the starting kit write it; it is ignored otherwise"),
    Code("link_in_zip", "W", ("load",), "links in the zip", "ordinary files", "zip the files themselves: the platform unpacks a link as text"),
    Code("file_placeholder", "W", ("load",), "files that stand for others", "the files themselves", "download them, as with `git lfs pull`, and zip again"),
)  # fmt: skip

_RUNNING = (
    Code("model_raised", "C", _CALLS, "an exception", "an answer for every clip", "correct that line"),
    Code("timeout", "C", _PROCESS, "no answer in time", "an answer within the limit", "do less per call"),
    Code("crashed", "C", _PROCESS, "the model's process ended", "a process that keeps running", "do not call exit; look for crashes in native code"),
    Code("too_much", "C", _PROCESS, "too much memory, scratch space or printed text", "a model within the limits", "use less of it"),
    Code("bad_answer", "C", _PROCESS, "an answer that cannot be read", "a small answer", "return less; do not write to inherited file descriptors"),
    Code("time_budget", "C", ("run",), "the time budget used up", "all clips inside the budget", "make the model faster: read fewer or smaller frames"),
    Code("restarts_used_up", "C", ("run",), "a model process that died or hung too often", "a process that keeps running", "look at the first failure in the log"),
    Code("probes_unanswered", "W", ("run",), "perturbed copies without a valid answer", "an answer for every perturbed copy", "find the cause at home, with `kit.py run`: an exception, a call that takes too long, too much printed text or memory"),
    Code("probes_not_reached", "W", ("run",), "perturbed copies that were not reached", "enough time and a running model for all of them", "make the model faster; look at the first failure in the log"),
    Code("calls_refused", "W", ("run",), "system calls that are not allowed", "allowed system calls only", "ignore this if all went well; otherwise avoid these calls, or ask the organisers to allow them"),
    Code("answers_equal", "W", ("run",), "the same prediction for every clip", "predictions that depend on the clip", "check what the model reads from a clip"),
    Code("answers_differ", "W", ("run",), "a different answer to the same clip", "the same answer both times", "fix seeds and the number of threads, and carry nothing over from one clip to the next"),
    Code("answers_depend", "W", ("run",), "a different answer to the same perturbed copy in a fresh process", "the same answer both times", "carry nothing over from one call to the next, and fix seeds and the number of threads"),
)  # fmt: skip

_RESULTS = (
    Code("result_missing", "C", ("predict",), "no result for this clip", "numbers for every clip", "add the clip; its name must match exactly"),
    Code("result_unreadable", "C", _CALLS, "an entry that cannot be read", "an entry in the format of docs/results_2017.md", "write it again"),
    Code("results_unknown", "W", ("run",), "names that are not clips of this phase", "only clips of this phase", "correct the names; unknown ones are ignored"),
    Code("results_unexplained", "W", ("run",), "no file of explanations", "a text for every clip", "add description.pkl or explanations.jsonl"),
    Code("target_renamed", "W", ("run",), "an older name of a target", "the target's name", "nothing to do: the values are used as they are"),
    Code("numbers_as_text", "W", ("run",), "numbers written as text", "numbers", "write floats; these were converted"),
    Code("picture_order", "W", ("run",), "pictures in the format of 2017, read as RGB", "a stated colour order", "add `pictures: rgb` or `pictures: bgr` to metadata.txt"),
)  # fmt: skip

_PREDICTION = (
    Code("prediction_type", "C", ("predict",), "something that is not a dict", "a dict with a number for every target", "return that dict from predict"),
    Code("target_missing", "C", ("predict",), "a target without a number", "every target", "add the target; names must match exactly"),
    Code("target_type", "C", ("predict",), "a value that is not a number", "a number in the target's range", "convert it with float(...)"),
    Code("target_not_finite", "C", ("predict",), "NaN or infinity", "a number in the target's range", "look for divisions by zero and empty means"),
    Code("target_out_of_range", "C", ("predict",), "a number outside the target's range", "a number in the target's range", "clip or rescale your output"),
    Code("target_unknown", "W", ("predict",), "keys that are not targets", "targets only", "leave them out"),
    Code("target_rounded", "W", ("predict",), "a number outside the range by a rounding error", "a number in the target's range", "clip your output"),
)  # fmt: skip

_EXPLANATION = (
    Code("explanation_type", "C", ("explain",), "something that is not a dict", "a dict with text, image and evidence", "put the text into a dict, under the key `text`"),
    Code("text_missing", "C", ("explain",), "no text", "a str", "put it under the key `text`"),
    Code("text_short", "C", ("explain",), "a text that is too short", "a sentence or two", "say why the prediction came out as it did"),
    Code("text_cut", "W", ("explain",), "a text that is too long", "a text within the limit", "shorten it; the rest is cut"),
    Code("text_characters", "W", ("explain",), "control characters", "printable text", "remove them; they are replaced"),
    Code("image_type", "C", ("explain",), "pixels of the wrong type; the picture is dropped", "uint8 RGB pixels", "convert with .astype('uint8')"),
    Code("image_shape", "C", ("explain",), "an image of the wrong shape; the picture is dropped", "(height, width, 3) as the task says", "resize or transpose it"),
    Code("image_range", "C", ("explain",), "float pixels outside 0 to 1; the picture is dropped", "uint8 from 0 to 255, or floats from 0 to 1", "rescale them"),
    Code("image_grey", "W", ("explain",), "a grey image", "three channels", "repeat the channel; this was done for you"),
    Code("image_alpha", "W", ("explain",), "a fourth channel", "three channels", "leave it out; it was dropped"),
    Code("image_float", "W", ("explain",), "float pixels", "uint8 pixels", "multiply by 255 and round; this was done for you"),
    Code("image_flat", "W", ("explain",), "a picture of one colour", "a picture that shows something", "return None where there is nothing to show"),
    Code("evidence_invalid", "C", ("explain",), "part of the evidence in the wrong format", "space, time or cues as the page Submission shows", "correct it, or leave it out"),
    Code("explanation_key", "W", ("explain",), "unknown keys", "only text, image, evidence", "leave them out"),
)  # fmt: skip

_ORGANISER = (
    Code("settings_unreadable", "O", ("settings",), "a task.yaml that cannot be read", "a YAML file in UTF-8", "correct the file"),
    Code("settings_unknown", "O", ("settings",), "an unknown key", "a known key", "correct or remove that key"),
    Code("settings_value", "O", ("settings",), "a setting that is missing or wrong", "a valid value", "correct that key"),
    Code("seal_key_broken", "O", ("settings",), "a damaged key", "64 hexadecimal digits in a folder that can be written to", "build the bundle again"),
    Code("clips_unreadable", "O", ("data",), "a clip list that cannot be read", "a CSV file in UTF-8", "rewrite it"),
    Code("clips_header", "O", ("data",), "the wrong header", "clip_id,file,sha256", "correct the header"),
    Code("clips_row", "O", ("data",), "a row with more or fewer fields", "three fields", "correct the row"),
    Code("clips_empty", "O", ("data",), "no clip", "at least one", "add clips"),
    Code("clip_id", "O", ("data",), "an id with characters that are not allowed", "letters, digits, _ and -", "rename the clip"),
    Code("clip_twice", "O", ("data",), "a duplicate id", "every id once", "remove one row"),
    Code("clip_path", "O", ("data",), "a path outside the input data", "a path below it", "move the file there"),
    Code("clip_missing", "O", ("data",), "no such file", "the clip's file", "add the file"),
    Code("clip_changed", "O", ("data",), "content that differs from the list", "the file with that hash", "restore the file, or correct the list"),
    Code("clip_unreadable", "O", ("data",), "a clip that cannot be decoded, or is not canonical", "a canonical clip that decodes, as docs/data_format.md describes", "replace the file, or run `bundle data canonical`; `bundle check` finds such clips"),
    Code("clip_lost", "O", ("data",), "a clip that became unreadable during the run", "an unchanged clip", "run it again; if it happens again, check what the model does to files"),
    Code("clip_unknown", "O", ("data",), "a row for a clip that is not in the list", "a clip of the list", "correct the clip_id"),
    Code("copy_cue", "O", ("data",), "a copy of an unknown cue, or a second one of the same cue", "a cue of the settings, once per clip", "correct the row"),
    Code("copy_transcript", "O", ("data",), "a copy without a transcript", "a transcript for every copy, even if it is empty", "add it to the transcripts"),
    Code("exchanges_unreadable", "O", ("data",), "a list of exchanges that cannot be read", "a JSON file as docs/data_format.md describes", "rewrite it"),
    Code("exchange_entry", "O", ("data",), "an invalid entry in the list of exchanges", "a file, its hash and its parts", "correct the entry"),
    Code("exchange_differs", "O", ("data",), "an exchange whose length or size differs from its clip", "the length and size of its clip", "create the exchange again"),
    Code("face_box", "O", ("data",), "a box that is not a rectangle inside the frame", "left < right and top < bottom, fractions from 0 to 1", "correct the box"),
    Code("transcripts_unreadable", "O", ("data",), "transcripts that cannot be read", "a JSON object {clip_id: text}", "rewrite the file"),
    Code("isolation_too_weak", "O", ("run",), "a machine that cannot isolate the model as required", "the isolation level that task.yaml asks for", "use another worker, or lower isolation.require"),
    Code("machine_busy", "O", ("run",), "a run that had to wait for a busy processor", "a free processor", "ask the organisers to run it again"),
    Code("gpu_missing", "O", ("run",), "no GPU, against environment: gpu in task.yaml", "a GPU", "use a queue whose workers have one"),
    Code("disk_full", "O", ("run",), "no room on the disk", "room for what a run writes", "make room on the worker, and run the submission again"),
    Code("output_closed", "O", ("run",), "an output folder that cannot be written", "a folder that can be emptied and written", "repair the worker, and run the submission again"),
    Code("packages_missing", "O", ("run",), "an image without the packages", "the packages of requirements.lock", "follow log.txt"),
    Code("check_failed", "O", _CALLS, "an error of the ingestion program while it checked an answer", "no error in this program", "tell the organisers: it is not your fault"),
    Code("watchdog", "O", ("run",), "a run that hung until just before the platform's limit", "a run that ends in time", "run it again; if it happens again, tell the organisers"),
    Code("unexpected", "O", ("run",), "an error of the ingestion program", "no error in this program", "run it again; if it happens again, tell the organisers"),
)  # fmt: skip

CODES: dict[str, Code] = {
    code.name: code for code in (*_SUBMISSION, *_RUNNING, *_RESULTS, *_PREDICTION, *_EXPLANATION, *_ORGANISER)
}
"""Every code, in the order of a run."""
