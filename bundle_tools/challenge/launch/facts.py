"""Facts that only the organisers know: `launch.yaml` beside `competition.yaml`. It is never packed."""

import re
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated

from bundle_tools.challenge.scoring_program import use_own_scoring_program
from bundle_tools.errors import BundleError

use_own_scoring_program()
# The only reader of settings files.
from score.schema import Length, WrongSettings, read  # noqa: E402

FILE = "launch.yaml"
QUESTION = "question"
_Text = Annotated[str, Length(2000)]


@dataclass(frozen=True)
class Facts:
    """Answers in the organisers' words; empty if not filled in yet."""

    contact: _Text = field(default="", metadata={QUESTION: "An address that somebody reads during the challenge."})
    people: _Text = field(
        default="",
        metadata={QUESTION: "Who is in the clips, on what basis they are used, and how minors were kept out."},
    )
    labels: _Text = field(
        default="", metadata={QUESTION: "Who labelled the clips, how many people per clip, and what they were asked."}
    )
    bias: _Text = field(default="", metadata={QUESTION: "Which biases are known, with numbers."})
    removal: _Text = field(
        default="", metadata={QUESTION: "Where people ask for removal of their clips, and what happens then."}
    )
    licence: _Text = field(default="", metadata={QUESTION: "Of clips and labels: a name, or the address of its text."})
    cite_as: _Text = field(default="", metadata={QUESTION: "How the data are cited."})
    doi: _Text = field(
        default="", metadata={QUESTION: "The identifier of the data or the paper, such as 10.5281/zenodo.123456."}
    )
    published: _Text = field(default="", metadata={QUESTION: "The day on which the data are published: 2030-01-15."})
    beta_test: _Text = field(
        default="", metadata={QUESTION: "Which outsider tried everything (kit, submission, report), and when."}
    )
    afterwards: _Text = field(
        default="",
        metadata={
            QUESTION: "What happens after the end: when results and labels are published, and what is deleted when."
        },
    )


def read_facts(root: Path, *, write: bool = True) -> Facts:
    """Read the file of a bundle; if it is missing, write a blank one, unless `write` is false.

    Raises BundleError with every mistake of the file.
    """
    path = root / FILE
    if not path.exists():
        if write:
            path.write_text(_blank(), encoding="utf-8")
        return Facts()
    try:
        # A file that was not filled in yet contains only comments.
        return read(Facts, path) if re.search(r"^[^#\s]", path.read_text("utf-8"), re.MULTILINE) else Facts()
    except WrongSettings as error:
        told = "".join(
            f"\n  - {one.key or path.name}: found {one.found}; expected {one.expected}" for one in error.mistakes
        )
        raise BundleError(f"{path}: correct these keys.{told}") from error


def questions() -> dict[str, str]:
    """Return the question of each key."""
    return {one.name: one.metadata[QUESTION] for one in fields(Facts)}


def _blank() -> str:
    head = (
        "# What only the organisers know. `bundle launch` reads it; it is never packed.\n"
        "# Answer below each question and remove the # in front. For several lines write: key: >-\n"
    )
    return head + "".join(f"\n# {question}\n# {name}:\n" for name, question in questions().items())
