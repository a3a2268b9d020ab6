"""Check a model's answers: a bad prediction fails its clip, a bad part of an explanation costs only that part.

The values come from the model process as plain JSON and arrays; nothing here runs a participant's code. A problem
without its own fix gets that of its code, see `ingest.codes`.
"""

import difflib
import math
import unicodedata
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ingest.codes import Stage
from ingest.errors import Problem
from ingest.evidence import Evidence, as_number, check_evidence, kind
from ingest.settings import ExplanationFormat, Target
from model_process.packing import OTHER

ROUNDING = 1e-6
"""A value at most this far outside its range is moved to the limit."""
COMPARED_KEYS = 200
"""Most keys that a name is compared with; more would take seconds."""
COMPOSING = 4
"""Multiple of the longest text that is normalised to composed form; the effort grows with the square of the length."""

Image = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Explanation:
    """The valid parts of an explanation."""

    text: str | None
    """Cleaned text, or None."""
    image: Image | None
    """RGB, shape (height, width, 3) as the task says, or None."""
    evidence: Evidence | None
    """The valid parts, or None."""


def check_prediction(value: object, targets: tuple[Target, ...]) -> tuple[dict[str, float] | None, list[Problem]]:
    """Return the prediction with every target as a finite float inside its range, or None, and all problems."""
    names = [target.name for target in targets]
    example = "{" + ", ".join(f'"{name}": 0.5' for name in names[:2]) + ", …}"
    if not isinstance(value, dict) or OTHER in value:
        found = kind(value)
        return None, [
            _problem("prediction_type", "predict", "predict", found, f"a dict with every target, e.g. {example}")
        ]
    problems, warnings, prediction = [], [], {}
    unknown = [key for key in value if key not in names]
    for target in targets:
        where = f'target "{target.name}"'
        if target.name not in value:
            compared = unknown[:COMPARED_KEYS]
            alike = [key for key in compared if key.strip().casefold() == target.name.casefold()]
            close = next(iter(alike or difflib.get_close_matches(target.name, compared, n=1)), None)
            found = f'only the similar key "{close}"' if close else "no such key"
            problems.append(_problem("target_missing", "predict", where, found, "every target", f"add {target.name!r}"))
            continue
        number = as_number(value[target.name])
        limits = f"a number from {target.minimum:g} to {target.maximum:g}"
        if number is None:
            problems.append(_problem("target_type", "predict", where, kind(value[target.name]), limits))
        elif not math.isfinite(number):
            problems.append(_problem("target_not_finite", "predict", where, str(number), limits))
        elif not target.minimum - ROUNDING <= number <= target.maximum + ROUNDING:
            fix = "clip or rescale your output"
            problems.append(_problem("target_out_of_range", "predict", where, f"{number:.6g}", limits, fix))
        else:
            prediction[target.name] = min(max(number, target.minimum), target.maximum)
            if prediction[target.name] != number:
                warnings.append(_warning("target_rounded", "predict", where, repr(number), limits))
    if problems:
        return None, _of_all(problems, names)
    if unknown:
        found = ", ".join(unknown[:COMPARED_KEYS])[:200]
        warnings.append(_warning("target_unknown", "predict", "predict", found, "only " + ", ".join(names)))
    return prediction, warnings


def _of_all(problems: list[Problem], names: list[str]) -> list[Problem]:
    """Name a mistake once that every target has."""
    first = problems[0]
    if not len(problems) == len(names) > 1 or {problem.code for problem in problems} != {first.code}:
        return problems
    fix = f"add {', '.join(map(repr, names))}" if first.code == "target_missing" else first.fix
    found = ", ".join(f"{problem.found} for {name}" for problem, name in zip(problems[:2], names, strict=False))
    return [replace(first, where="every target", found=found + ", …" * (len(names) > 2), fix=fix)]


def check_explanation(
    value: object, form: ExplanationFormat, targets: tuple[Target, ...], duration_s: float
) -> tuple[Explanation, list[Problem]]:
    """Return the valid parts of an explanation, and all problems."""
    if not isinstance(value, dict) or OTHER in value:
        expected = 'a dict: {"text": …, "image": … or None, "evidence": … or None}'
        problem = _problem("explanation_type", "explain", "explain", kind(value), expected)
        return Explanation(None, None, None), [problem]
    problems: list[Problem] = []
    text = _check_text(value.get("text"), form, problems)
    image = _check_image(value.get("image"), form, problems)
    evidence = check_evidence(value.get("evidence"), form, targets, duration_s, problems)
    unknown = [key for key in value if key not in {"text", "image", "evidence"}]
    if unknown:
        found = ", ".join(unknown)[:200]
        problems.append(_warning("explanation_key", "explain", "explain", found, "only text, image, evidence"))
    return Explanation(text, image, evidence), problems


def _check_text(value: object, form: ExplanationFormat, problems: list[Problem]) -> str | None:
    lengths = f"{form.text.minimum_chars} to {form.text.maximum_chars} characters"
    if not isinstance(value, str):
        problems.append(_problem("text_missing", "explain", "text", kind(value), f"a str of {lengths}"))
        return None
    longest = COMPOSING * form.text.maximum_chars
    beginning = value.strip()[:longest]
    printable = "".join(map(_printable, beginning))
    text = unicodedata.normalize("NFC", printable).strip()
    if printable != beginning:
        problems.append(_warning("text_characters", "explain", "text", "control characters", "printable text"))
    if len(text) > form.text.maximum_chars:
        problems.append(_warning("text_cut", "explain", "text", f"{len(value)} characters", lengths))
        text = text[: form.text.maximum_chars]
    if len(text) < form.text.minimum_chars:
        found = f"{len(text)} characters" if text else "an empty text"
        problems.append(_problem("text_short", "explain", "text", found, lengths, "say why in a sentence or two"))
        return None
    return text


def _printable(character: str) -> str:
    # Lone surrogates cannot be written as UTF-8, control characters break logs and pages.
    return character if character in "\n\t" or unicodedata.category(character) not in {"Cc", "Cs"} else "\ufffd"


def _check_image(value: object, form: ExplanationFormat, problems: list[Problem]) -> Image | None:
    shape = (form.image.height, form.image.width, 3)
    expected = f"uint8 RGB of shape {shape}, or None"

    def bad(code: str, fix: str) -> None:
        found = f"{kind(value)}; the picture is dropped"
        problems.append(_problem(code, "explain", "image", found, expected, fix))

    if value is None:
        return None
    if not isinstance(value, np.ndarray):
        tensor = isinstance(value, dict) and "tensor" in str(value.get(OTHER, "")).lower()
        bad("image_type", "return tensor.cpu().numpy()" if tensor else "return pixels as a NumPy array")
        return None
    image: npt.NDArray[Any] = value
    if image.shape in {(3, *shape[:2]), (shape[1], shape[0], 3), (3, shape[1], shape[0])}:
        bad("image_shape", "transpose to (height, width, 3)")
        return None
    if image.shape[:2] == shape[:2] and image.shape[2:] in {(), (1,)}:
        problems.append(_warning("image_grey", "explain", "image", kind(value), expected))
        image = np.repeat(image.reshape(*shape[:2], 1), 3, axis=2)
    elif image.shape == (*shape[:2], 4):
        problems.append(_warning("image_alpha", "explain", "image", kind(value), expected))
        image = image[:, :, :3]
    if image.shape != shape:
        bad("image_shape", f"resize to width {shape[1]}, height {shape[0]}")
        return None
    # The type decides what the numbers mean, never their size: a dark uint8 image is not a float one.
    if image.dtype.kind == "f":
        if not np.isfinite(image).all() or image.min() < 0 or image.max() > 1 + ROUNDING:
            bad("image_range", "use uint8 from 0 to 255, or floats from 0 to 1")
            return None
        problems.append(_warning("image_float", "explain", "image", kind(value), expected))
        image = np.rint(image * 255)
    elif image.dtype != np.uint8:
        bad("image_type", "convert with .astype('uint8')")
        return None
    if image.min() == image.max():
        problems.append(_warning("image_flat", "explain", "image", "a picture of one colour", "a picture, or None"))
    return np.ascontiguousarray(image, np.uint8)


def _problem(code: str, stage: Stage, where: str, found: str, expected: str, fix: str = "") -> Problem:
    return Problem(code, stage, where, found, expected, fix)


def _warning(code: str, stage: Stage, where: str, found: str, expected: str) -> Problem:
    return Problem(code, stage, where, found, expected, "", severity="warning")
