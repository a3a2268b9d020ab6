"""Rules about programs: the metadata file, the command in it, and the script that the command starts."""

import re
import shlex
from collections.abc import Iterator
from difflib import get_close_matches
from functools import lru_cache
from pathlib import PurePosixPath

from bundle_tools.codabench.bounded_yaml import load_bounded
from bundle_tools.codabench.rules.dataset import DataFiles, find, opened
from bundle_tools.codabench.rules.document import ParsedBundle
from bundle_tools.codabench.rules.findings import FAILS_LATER, Finding, shown
from bundle_tools.codabench.worker import CannotStart
from bundle_tools.codabench.worker.jobs import METADATA_NAMES, Role, arguments

PROGRAMS: dict[str, Role] = {"ingestion_program": "ingestion", "scoring_program": "scoring"}
SHELL = re.compile(r"[|&;<>`*?]|\$\(|\$[A-Z]")
LARGEST_METADATA = 100_000
# Options of Python that take the next argument, or after which no script follows.
NO_SCRIPT = ("-c", "-m")
TAKES_VALUE = ("-W", "-X")
NOTHING_TO_RUN = ("-", "-u", "-B", "-E", "-I", "-O", "-s", "-S")
SHELLS = ("sh", "bash", "dash")
# -c, alone or after others without a value: -lc, -uc.
TEXT_FOLLOWS = re.compile(r"-[bBdeEiIlOPqsSuvx]*c")
# Words that only a shell understands; no programs have these names.
BUILTINS = frozenset({".", "source", "cd", "export", "set", "eval", "ulimit", "alias", "unset"})
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
# Programs whose names differ little from the usual ones; any other near miss is a typing error.
TYPED_OFTEN = ("python3", "python", "bash", "Rscript")
NEIGHBOURS = ("ipython", "bpython", "jython", "cython", "pypy", "ash", "dash", "zsh", "rbash", "mbash")
ALIKE = 0.8
BELOW_APP = re.compile(r"(?<![\w./-])/app/([^/\s:,;='\"]+)")
MOUNTED: dict[Role, frozenset[str]] = {
    "ingestion": frozenset({"program", "ingested_program", "input_data", "output", "data"}),
    "scoring": frozenset({"program", "input", "output", "shared", "data"}),
}
# Other rules report these in more detail.
TOLD_ELSEWHERE = frozenset({"ingestion_program", "input_data"})


def check_programs(bundle: ParsedBundle) -> Iterator[Finding]:
    """Find what is wrong with the metadata and the commands of all programs."""
    for task in bundle.keys.tasks:
        for key, role in PROGRAMS.items():
            program = find(bundle, getattr(task, key))
            if program is not None and task.key is None:
                yield from _check_program(bundle.at(*task.key_path, key), key, role, program)
        paths = [str(path).rstrip("/") for key in PROGRAMS if (path := getattr(task, key)) is not None]
        if len(paths) > len(set(paths)):
            what = f"ingestion_program and scoring_program are the same: {shown(paths[0])}."
            where, effect = bundle.at(*task.key_path, "ingestion_program"), "Both jobs run the same command."
            yield Finding("program-same", "warning", where, what, effect, "Name the folder of each.")


def started(program: DataFiles, role: Role) -> list[str]:
    """Return the arguments that the worker would run; empty if they cannot be determined."""
    name = next((name for name in METADATA_NAMES if name in program.names()), None)
    command, _ = _command(program, name) if name else ("", None)
    try:
        return arguments(command, role)
    except CannotStart:
        return []


def _check_program(where: str, key: str, role: Role, program: DataFiles) -> Iterator[Finding]:
    names = program.names()
    silent = "The platform runs nothing and continues with scoring." if role == "ingestion" else "No run gets scores."
    metadata = [name for name in METADATA_NAMES if name in names]
    if not metadata:
        below = [other for other in names if other.endswith(("/metadata.yaml", "/metadata")) or other == "metadata.yml"]
        what = f"{key}: expected metadata.yaml at its root; found {below[0] if below else 'none'}."
        yield Finding("program-metadata", "error", where, what, silent, "Put metadata.yaml at the root.")
        return
    command, problem = _command(program, metadata[0])
    if problem:
        yield Finding("program-command", "error", where, f"{key}: {problem}.", silent, "Write command: as one text.")
        return
    if len(metadata) > 1 and _differ(command, _command(program, metadata[1])[0], role):
        what = f"{key}: metadata.yaml and metadata hold different commands."
        effect = "The platform runs metadata.yaml and never looks into metadata."
        yield Finding("program-metadata-two", "warning", where, what, effect, "Delete metadata, or make them agree.")
    words = started(program, role)
    if SHELL.search(command) and not runs_text(words):
        what = f"{key}: the command contains shell syntax: {shown(command)}."
        yield Finding(
            "program-shell",
            "error",
            where,
            what,
            "Codabench starts no shell and passes them as plain arguments.",
            "Write one command.",
        )
    if "$input_data" in command and role == "ingestion":
        what = f"{key}: the command contains $input_data."
        effect = "Codabench replaces $input in it: /app/input_data_data."
        yield Finding("program-variable", "error", where, what, effect, "Write /app/input_data/.")
    try:
        shlex.split(command)
    except ValueError as error:
        what = f"{key}: the command cannot be split: {error}."
        yield Finding("program-quotes", "error", where, what, silent, "Close the quotes.")
    if "/app/ingestion_program" in command:
        what = f"{key}: the command names /app/ingestion_program, which is never mounted."
        yield Finding("program-mount", "error", where, what, FAILS_LATER, "Write /app/program.")
    yield from _check_start(where, key, command, words)
    if not runs_text(words):
        yield from _check_mounts(where, key, role, command)
    yield from _check_script(where, key, names, words)


def _check_script(where: str, key: str, names: list[str], words: list[str]) -> Iterator[Finding]:
    direct = local_name(words[0]) if words and "/" in words[0] else None
    if direct is not None:
        what = f"{key}: the command starts {direct} itself."
        effect = "Codabench unpacks files without execute permission, so the start fails."
        yield Finding("program-execute", "error", where, what, effect, f"Start it with python3 or sh: sh {direct}.")
    script = direct or script_of(words)
    if script is not None and script not in names:
        what = f"{key}: the command runs {script}, which does not exist."
        yield Finding("program-script", "error", where, what, FAILS_LATER, "Correct the command.")


def _check_start(where: str, key: str, command: str, words: list[str]) -> Iterator[Finding]:
    if not words:
        return
    name, first = PurePosixPath(words[0]).name, shown(words[0])
    fix = "Start one program, with its arguments: python3 /app/program/main.py."
    if words[0] in BUILTINS or ASSIGNMENT.match(words[0]):
        what = f"{key}: the command starts with {first}, which only a shell understands."
        yield Finding("program-start", "error", where, what, "There is no such program: nothing runs.", fix)
    elif "/" not in words[0] and not name.startswith((*TYPED_OFTEN, *NEIGHBOURS)):
        near = get_close_matches(name, TYPED_OFTEN, n=1, cutoff=ALIKE)
        if near:
            what = f"{key}: the command starts {first}."
            effect = "Without a program of this name in the image, nothing runs."
            yield Finding("program-start", "error", where, what, effect, f"Did you mean {near[0]}?")
    elif is_interpreter(name) and all(word in NOTHING_TO_RUN for word in words[1:]):
        what = f"{key}: the command starts {first} with nothing to run."
        yield Finding("program-start", "error", where, what, "It ends at once, and nothing is done.", fix)
    for line in command.strip().splitlines()[1:]:
        start = line.split()[:1]
        if start and (is_interpreter(PurePosixPath(start[0]).name) or start[0] in ("pip", "pip3", *BUILTINS)):
            what = f"{key}: the command has several lines; {shown(line.strip())} is one of them."
            effect = "The other lines become arguments of the first, so only one program runs."
            yield Finding("program-lines", "error", where, what, effect, "Put them into a script and start the script.")
            return


def _check_mounts(where: str, key: str, role: Role, command: str) -> Iterator[Finding]:
    # Only literal paths, because many commands contain variables of other roles without using them.
    for name in dict.fromkeys(BELOW_APP.findall(command)):
        if name not in MOUNTED[role] | TOLD_ELSEWHERE:
            what = f"{key}: the command names /app/{name}, which is not mounted in the container of {role}."
            known = ", ".join(f"/app/{mount}" for mount in sorted(MOUNTED[role]))
            effect = "It exists only if the image contains it."
            yield Finding("program-mount", "warning", where, what, effect, f"There are {known}.")


def is_interpreter(name: str) -> bool:
    """Return whether a program runs scripts: Python of any version, or a shell."""
    return name.startswith("python") or name in SHELLS


def runs_text(words: list[str]) -> bool:
    """Return whether a command passes a program as text to an interpreter: `bash -c "a && b"`, `python3 -c ...`."""
    if not words or not is_interpreter(PurePosixPath(words[0]).name):
        return False
    rest = iter(words[1:])
    for word in rest:
        if TEXT_FOLLOWS.match(word):
            return True
        if word in TAKES_VALUE:
            next(rest, None)
        elif not word.startswith("-"):
            return False
    return False


def script_of(words: list[str]) -> str | None:
    """Return the script that Python or a shell runs, relative to the program's root; None if unknown."""
    if not words:
        return None
    if not is_interpreter(PurePosixPath(words[0]).name) or runs_text(words):
        return None
    rest = iter(words[1:])
    for word in rest:
        if word in TAKES_VALUE:
            next(rest, None)
        elif word.startswith(NO_SCRIPT):
            return None
        elif not word.startswith("-"):
            return local_name(word)
    return None


def local_name(word: str) -> str | None:
    """Return a path of a command relative to the program's root, which is also the working folder; None outside it."""
    path = PurePosixPath("/app/program") / word
    parts = [part for part in path.parts if part != "."]
    if ".." in parts or parts[:3] != ["/", "app", "program"] or len(parts) < 4:
        return None
    return "/".join(parts[3:])


def _command(program: DataFiles, name: str) -> tuple[str, str | None]:
    if program.size(name) > LARGEST_METADATA:
        return "", f"{name} has {program.size(name)} bytes; expected a command"
    try:
        command = _command_in(program.read(name).decode("utf-8"))
    except UnicodeDecodeError as error:
        return "", f"{name} is not UTF-8 ({error.reason})"
    except ValueError as error:
        return "", f"{name} is not YAML: {error}"
    if command is None:
        return "", f"{name} has no `command` that is one text"
    return command, None if command.strip() else f"{name} has an empty command"


# Several rules read the same program.
@lru_cache(maxsize=64)
def _command_in(text: str) -> str | None:
    content = load_bounded(text)
    command = content.get("command") if isinstance(content, dict) else None
    return command if isinstance(command, str) else None


def _differ(one: str, other: str, role: Role) -> bool:
    try:
        first, second = arguments(one, role), arguments(other, role)
    except CannotStart:
        return one != other
    return [word.rstrip("/") for word in first] != [word.rstrip("/") for word in second]


NAMES = frozenset({".env", ".netrc", ".pypirc", ".git-credentials", "id_rsa", "id_ed25519", "id_ecdsa"})
KEY = re.compile(rb"-----BEGIN (?:[A-Z]+ ){0,3}PRIVATE KEY-----\r?\n")
LARGEST_KEY = 100_000
MOST_TOLD = 5


def check_private(bundle: ParsedBundle) -> Iterator[Finding]:
    """Find files in programs that look like passwords or private keys."""
    shows = bundle.keys.make_programs_available
    reader = "Every participant can download it." if shows else "Every organiser and every worker can read it."
    for value, program in opened(bundle, *PROGRAMS).items():
        exposed = [
            name
            for name in program.names()
            if PurePosixPath(name).name in NAMES
            or (program.size(name) <= LARGEST_KEY and KEY.search(program.read(name)))
        ]
        for name in exposed[:MOST_TOLD]:
            what = f"{value.rstrip('/')}/{name}: looks like passwords or a private key."
            yield Finding("program-private", "warning", value, what, reader, "Remove it from the folder.")
