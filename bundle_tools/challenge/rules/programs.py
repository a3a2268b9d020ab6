"""Rules about programs: the data that they refuse, the columns that they write, and the solutions that they accept.

Code of a bundle is read, never run, but for its own programs as `program_settings` says.
"""

import ast
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from bundle_tools.challenge.pages.write import pages_of
from bundle_tools.challenge.reading.program_settings import (
    DATA,
    ProgramProblem,
    ProgramSettings,
    program_settings,
    scoring_settings,
)
from bundle_tools.challenge.reading.tables import SETTINGS
from bundle_tools.challenge.rules import finding
from bundle_tools.codabench.rules.dataset import DataFiles, find, opened, uses_of
from bundle_tools.codabench.rules.document import ParsedBundle
from bundle_tools.codabench.rules.findings import Finding, shown
from bundle_tools.codabench.rules.images import LARGEST_SOURCE, TEXTS, Source, read_sources
from bundle_tools.codabench.rules.texts import MOST_TOLD
from bundle_tools.codabench.trust import FIX

MOST_OF_A_KIND = 5
"""Most mistakes of one kind to show: a table in another format has one in each line."""
WRITES = ("scores.json", "scores.txt")
# Shorter pieces of a composed key would match any key.
SHORTEST_PIECE = 2
# With these functions, names of variables and fields become keys.
NAMES_BECOME_KEYS = frozenset({"asdict", "_asdict", "vars", "locals", "__dict__", "model_dump", "to_dict", "to_json"})
KIT = Path(__file__).resolve().parents[3] / "starting_kit"
"""The starting kit of this checkout, which has the checks of a source."""
KIT_CODES = {
    "syntax_error": "solution-syntax",
    "class_missing": "solution-contract",
    "method_missing": "solution-contract",
    "signature_wrong": "solution-contract",
}
"""The starting kit's code -> ours. Which packages the image has, it knows only of this checkout's own."""


def check_settings(bundle: ParsedBundle) -> Iterator[Finding]:
    """Ask both programs to read the data of each task; those that the user does not trust are skipped."""
    tasks = {task.key_path: task for task in bundle.keys.tasks}
    for program, data in DATA.items():
        title = program.replace("_", " ")
        for keys, answer in program_settings(bundle, program).items():
            where = bundle.at(*keys, program)
            if answer is None:
                what = f"The {title} is not the one of this installation, so it was not run on its data."
                yield finding("program-unasked", where, what, fix=FIX)
                continue
            yield from _refused(str(getattr(tasks[keys], data)), answer)
            if answer.problem:
                yield finding("settings-unread", where, f"The {title} cannot read its settings: {answer.problem}")


def _refused(folder: str, answer: ProgramSettings) -> Iterator[Finding]:
    of_data, shown_so_far = Counter(refusal.code for refusal in answer.of_data), Counter[str]()
    for refusal in answer.of_settings:
        where = f"{PurePosixPath(folder) / SETTINGS}{refusal.where.removeprefix(SETTINGS)}"
        yield finding("settings-refused", where, _what(refusal), fix=_sentence(refusal.fix))
    for refusal in answer.of_data:
        shown_so_far[refusal.code] += 1
        if shown_so_far[refusal.code] > MOST_OF_A_KIND:
            continue
        what, count = _what(refusal), of_data[refusal.code]
        if shown_so_far[refusal.code] == MOST_OF_A_KIND < count:
            what = f"{what} There are {count} such mistakes."
        where = str(PurePosixPath(folder) / refusal.where)
        code = "data-doubted" if refusal.severity == "warning" else "data-refused"
        yield finding(code, where, what, fix=_sentence(refusal.fix))


def _what(refusal: ProgramProblem) -> str:
    return f"Found {refusal.found}; expected {refusal.expected}{'' if refusal.expected.endswith('?') else '.'}"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def check_registry(bundle: ParsedBundle) -> Iterator[Finding]:
    """Compare keys, titles, directions and decimals; programs without a registry are skipped."""
    for answer in scoring_settings(bundle).values():
        if answer is not None and not answer.problem:
            yield from _compare(bundle, answer.columns)
            yield from _check_primary(bundle, answer.columns)
            return


def check_revealed(bundle: ParsedBundle) -> Iterator[Finding]:
    """Find hidden columns that scores.json shows; those that the registry hides are not secret."""
    answer = next((answer for answer in scoring_settings(bundle).values() if answer is not None), None)
    empty = {column["key"] for column in (answer.columns if answer else ()) if column.get("hidden")}
    hidden = [column for column in bundle.keys.columns if column.hidden and column.key not in empty]
    for phase in bundle.keys.phases if hidden else ():
        if not phase.hide_score_output and not phase.hide_output:
            what = f"The phase leaves the scoring output open, and {len(hidden)} columns are hidden."
            yield finding("columns-revealed", bundle.at(*phase.key_path), what)


def _check_primary(bundle: ParsedBundle, registry: Sequence[dict[str, Any]]) -> Iterator[Finding]:
    """Find a board that does not rank by the first column of the registry, the primary score."""
    chosen, first = bundle.keys.primary_column, registry[0]["key"] if registry else None
    if first and chosen and chosen.key and chosen.key != first:
        what = f"The leaderboard ranks by {shown(chosen.key)}; the primary score of the scoring program is {first}."
        where = bundle.at(*bundle.keys.leaderboards[0].key_path, "primary_index")
        yield finding("columns-primary", where, what, first=first)


def _compare(bundle: ParsedBundle, registry: Sequence[dict[str, Any]]) -> Iterator[Finding]:
    declared = {column.key: column for column in bundle.keys.columns if column.key}
    board = bundle.at("leaderboards")
    for expected in registry:
        key, title, direction, decimals = (expected[field] for field in ("key", "title", "direction", "decimals"))
        if key not in declared:
            yield finding("columns-missing", board, f"The scoring program writes {key}, which is no column.")
            continue
        column = declared[key]
        keys = column.key_path
        if column.computation:
            what = f"The scoring program writes {key}, and Codabench computes it as well."
            yield finding("columns-computed", bundle.at(*keys), what)
        if column.sorting != direction:
            what = f"{key}: expected sorting {direction} as in the scoring program; found another."
            yield finding("columns-sorting", bundle.at(*keys), what, direction=direction)
        if column.title and column.title != title:
            what = f"{key}: titled {shown(title)} in the scoring program and {shown(column.title)} here."
            yield finding("columns-title", bundle.at(*keys, "title"), what)
        if column.precision < decimals:
            what = f"{key}: the scoring program gives {decimals} decimals; found precision {column.precision}."
            yield finding("columns-precision", bundle.at(*keys, "precision"), what, decimals=decimals)
    known = dict.fromkeys(expected["key"] for expected in registry)
    for key, column in declared.items():
        if key not in known and not column.computation:
            yield finding(
                "columns-extra", bundle.at(*column.key_path), f"The scoring program never writes {shown(key)}."
            )
    if [key for key in declared if key in known] != [key for key in known if key in declared]:
        yield finding("columns-order", board, "The columns are not in the order of the scoring program.")


def check_keys(bundle: ParsedBundle) -> Iterator[Finding]:
    """Find scoring programs that write keys, but none of a column's."""
    keys = [column.key for column in bundle.keys.columns if column.key and not column.computation]
    seen: set[str] = set()
    for where, path in uses_of(bundle, "scoring_program") if keys else ():
        program = find(bundle, path)
        if program is None or path in seen:
            continue
        seen.add(path)
        written = _keys_of(program)
        if written and not any(_stands_in(key, program, written) for key in keys):
            what = f"The scoring program writes {_some(written)}; the columns expect {_some(keys)}."
            yield finding("columns-keys", bundle.at(*where), what)


def _keys_of(program: DataFiles) -> list[str]:
    """Return the keys that the Python files which write scores use in dictionaries; empty if unknown."""
    sources = read_sources(program)
    if not any(text.endswith(WRITES) for source in sources for _, text in source.texts()):
        return []
    return list(dict.fromkeys(key for source in sources for key in _keys_in(source)))


def _keys_in(source: Source) -> Iterator[str]:
    for node in source.nodes:
        keys: list[ast.expr | None] = []
        if isinstance(node, ast.Dict):
            keys = list(node.keys)
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            keys = [node.slice]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict":
            yield from (keyword.arg for keyword in node.keywords if keyword.arg)
        for key in keys:
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value


def _stands_in(key: str, program: DataFiles, written: list[str]) -> bool:
    """Return whether a key is in the program, or may be composed there."""
    if key in written:
        return True
    others = (name for name in program.names() if not name.endswith(".py") and name.lower().endswith(TEXTS))
    if any(program.size(name) <= LARGEST_SOURCE and key in program.text(name) for name in others):
        return True
    return any(_may_make(key, source) for source in read_sources(program))


def _may_make(key: str, source: Source) -> bool:
    names = {str(getattr(node, "id", getattr(node, "attr", getattr(node, "arg", "")))) for node in source.nodes}
    if key in names and names & NAMES_BECOME_KEYS:
        return True
    if any(text == key or f'"{key}"' in text for _, text in source.texts()):
        return True
    pieces = (piece.value for node in source.nodes for piece in _pieces(node) if isinstance(piece, ast.Constant))
    bare = (str(piece).strip("{}%s :") for piece in pieces)
    return any(len(piece) >= SHORTEST_PIECE and (key.startswith(piece) or key.endswith(piece)) for piece in bare)


def _pieces(node: ast.AST) -> list[ast.expr]:
    """Return the parts of an expression that joins texts."""
    if isinstance(node, ast.JoinedStr):
        return node.values
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("format", "join"):
        return [node.func.value, *node.args]
    return []


def _some(names: list[str]) -> str:
    return ", ".join(shown(name) for name in names[:3]) + (", …" if len(names) > 3 else "")


def check_models(bundle: ParsedBundle) -> Iterator[Finding]:
    """Find solutions that our ingestion program would refuse; another one has other rules."""
    if str(KIT) not in sys.path:
        sys.path.append(str(KIT))
    from sources import LARGEST_SOURCE, check_sources  # noqa: PLC0415 - the path is known only now

    programs = opened(bundle, "ingestion_program").values()
    if not any("ingest/__init__.py" in program.names() for program in programs):
        return
    for keys, path in uses_of(bundle, "path"):
        files = find(bundle, path)
        if files is None:
            continue
        where, names = bundle.at(*keys), files.names()
        if "model.py" not in names:
            yield finding("solution-model", where, "model.py is missing at the root of a solution.")
            continue
        sources = [name for name in names if name.endswith(".py") and files.size(name) <= LARGEST_SOURCE]
        for problem in check_sources(names, {name: files.read(name) for name in sources}):
            if problem.level == "error" and problem.code in KIT_CODES:
                what = f"{problem.where} of a solution: {problem.found}."
                yield finding(KIT_CODES[problem.code], where, what, fix=_sentence(problem.fix))


def check_rendered_pages(bundle: ParsedBundle) -> Iterator[Finding]:
    """Find pages that are not what their template gives, and templates that cannot be rendered."""
    if None in scoring_settings(bundle).values():
        return  # the program was not asked, which is reported elsewhere; nothing can be compared
    reasons: dict[str, list[str]] = {}
    for page in pages_of(bundle):
        if page.before is None:
            continue  # other rules report it
        if page.problem:
            reasons.setdefault(page.problem, []).append(page.name)
        elif page.is_edited:
            if page.is_stale:
                yield finding("page-edited", page.name, page.advice())
        else:
            for line, before, after in islice(page.changes(), MOST_TOLD):
                yield finding("page-figure", f"{page.name}:{line}", f"Found {before!r}; expected {after!r}.")
    for reason, names in reasons.items():
        # One wrong setting can keep all pages from being rendered: report it once.
        yield finding("page-template", names[0], f"{', '.join(names)}: {reason}")
