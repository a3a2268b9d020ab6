"""The seal key: a secret that both programs of a task share and nobody else may hold."""

import re
from collections.abc import Iterable, Iterator

from bundle_tools.challenge.rules.secrets.inside import File
from bundle_tools.challenge.rules.secrets.places import Place
from bundle_tools.codabench.rules.dataset import Dataset, find
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.rules.findings import FAILS_LATER, Finding

SEAL = "seal.key"
PROGRAMS = ("ingestion_program", "scoring_program")
# A shorter text could occur in a file by chance.
SHORTEST_KEY = 16
# The format that both programs accept, apart from surrounding white space.
KEY = re.compile(rb"[0-9a-f]{64}")
EFFECT = "Anybody with the key can forge a run that scoring accepts."
FIX = "Delete it there, and make a new key: `bundle build --new-key`."


def seal_keys(programs: Iterable[Dataset]) -> set[bytes]:
    """Return the keys at the roots of programs."""
    keys = {program.read(SEAL).strip() for program in programs if SEAL in program.names()}
    return {key for key in keys if len(key) >= SHORTEST_KEY}


def check_seals(draft: Draft) -> Iterator[Finding]:
    """Find keys that are damaged, or differ between a task's two programs, so that scoring accepts no run."""
    fix = "Build the bundle again: `bundle build` puts one key into both programs."
    for task in draft.keys.tasks:
        where = draft.at(*task.place)
        programs = {key: program for key in PROGRAMS if (program := find(draft, getattr(task, key))) is not None}
        keys = {key: program.read(SEAL).strip() for key, program in programs.items() if SEAL in program.names()}
        for key in sorted(key for key, content in keys.items() if not KEY.fullmatch(content)):
            what = f"{SEAL} of the {key}: expected 64 hexadecimal digits in lower case; found something else."
            yield Finding("seal-damaged", "error", where, what, FAILS_LATER, fix)
        if len(programs) == len(PROGRAMS) and len(keys) == 1:
            what = f"Expected {SEAL} in both programs or in none; found it in the {next(iter(keys))} only."
            scored = "Scoring refuses every result as forged." if PROGRAMS[1] in keys else "No seal is checked."
            yield Finding("seal-alone", "error", where, what, scored, fix)
        elif len(set(keys.values())) > 1:
            what = f"The two programs hold different keys in {SEAL}."
            yield Finding("seal-differs", "error", where, what, "Scoring refuses every result as forged.", fix)


def check_key_in(place: Place, file: File, keys: set[bytes], programs: set[str]) -> Iterator[Finding]:
    """Find a key outside the root of a program, by name or by content."""
    own = place.name in programs and file.name == SEAL
    if own and place.audience != "participants":
        return
    if file.name.rpartition("/")[2] == SEAL or any(key in file.content for key in keys):
        what = f"{place.at(file.name)} contains the seal key" + (
            ", and make_programs_available is true." if own else "."
        )
        fix = "Set make_programs_available to false." if own else FIX
        yield Finding("leak-seal", "error", place.name, what, EFFECT, fix)
