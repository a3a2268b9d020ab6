"""Whether a foreign scoring program writes the keys of the leaderboard."""

import ast
from collections.abc import Iterator

from bundle_tools.codabench.rules.dataset import Dataset, find, uses_of
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.rules.findings import Finding, shown
from bundle_tools.codabench.rules.programs.sources import LARGEST_SOURCE, TEXTS, Source, read_sources

WRITES = ("scores.json", "scores.txt")
# Shorter pieces of a composed key would match any key.
SHORTEST_PIECE = 2
# With these functions, names of variables and fields become keys.
NAMES_BECOME_KEYS = frozenset({"asdict", "_asdict", "vars", "locals", "__dict__", "model_dump", "to_dict", "to_json"})


def check_keys(draft: Draft) -> Iterator[Finding]:
    """Find scoring programs that write keys, but none of a column's."""
    keys = [column.key for column in draft.keys.columns if column.key and not column.computation]
    seen: set[str] = set()
    for place, path in uses_of(draft, "scoring_program") if keys else ():
        program = find(draft, path)
        if program is None or path in seen:
            continue
        seen.add(path)
        written = _keys_of(program)
        if written and not any(_stands_in(key, program, written) for key in keys):
            what = f"The scoring program writes {_some(written)}; the columns expect {_some(keys)}."
            effect = "Codabench drops scores that have no column; their cells show n/a."
            yield Finding("columns-keys", "warning", draft.at(*place), what, effect, "Use the same keys in both.")


def _keys_of(program: Dataset) -> list[str]:
    """Return the keys that the Python files which write scores use in dictionaries; empty if unknown."""
    sources = read_sources(program)
    if not any(text.endswith(WRITES) for source in sources for _, text in source.texts()):
        return []
    return list(dict.fromkeys(key for source in sources for key in _keys_in(source)))


def _keys_in(source: Source) -> Iterator[str]:
    for node in source.nodes:
        places: list[ast.expr | None] = []
        if isinstance(node, ast.Dict):
            places = list(node.keys)
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            places = [node.slice]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict":
            yield from (keyword.arg for keyword in node.keywords if keyword.arg)
        for place in places:
            if isinstance(place, ast.Constant) and isinstance(place.value, str):
                yield place.value


def _stands_in(key: str, program: Dataset, written: list[str]) -> bool:
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
