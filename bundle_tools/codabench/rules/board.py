"""Rules about keys in general, the leaderboard, and the sizes and names of files."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from bundle_tools.codabench.keys import Board, BoardColumn, KeyMistake
from bundle_tools.codabench.rules.dataset import uses_of
from bundle_tools.codabench.rules.document import ParsedBundle
from bundle_tools.codabench.rules.findings import CRASHES, IGNORED, REFUSED, Finding, shown


def check_keys(bundle: ParsedBundle) -> Iterator[Finding]:
    """Find what is wrong with any key of the file."""
    yield from _key_findings(bundle, bundle.mistakes)


def check_board_keys(bundle: ParsedBundle) -> Iterator[Finding]:
    """Find wrong keys of leaderboards; in a converted file all other keys are Codabench's own."""
    yield from _key_findings(bundle, (mistake for mistake in bundle.mistakes if mistake.key_path[0] == "leaderboards"))


def _key_findings(bundle: ParsedBundle, mistakes: Iterable[KeyMistake]) -> Iterator[Finding]:
    for mistake in mistakes:
        where, key = bundle.at(*mistake.key_path), mistake.key_path[-1]
        if mistake.kind == "unknown":
            fix = f"Did you mean {mistake.near!r}?" if mistake.near else "Delete it."
            yield Finding("key-unknown", "warning", where, f"The key {mistake.what} is unknown.", IGNORED, fix)
        elif mistake.kind == "missing":
            yield Finding("key-missing", "error", where, f"The key {mistake.what!r} is missing.", REFUSED, "Add it.")
        elif mistake.kind == "null":
            fix = "Give a value or leave the key out."
            yield Finding("key-null", "error", where, f"{key}: {mistake.what}.", CRASHES, fix)
        elif mistake.kind == "value":
            yield Finding("key-value", "error", where, f"{key}: {mistake.what}.", REFUSED, "Correct the value.")
        elif mistake.kind == "entry":
            what = f"{mistake.key_path[-2]}: {mistake.what}."
            yield Finding("entry-type", "error", where, what, CRASHES, "Write keys and values.")
        else:
            yield Finding(f"{key}-empty", "error", where, f"{key} {mistake.what}.", CRASHES, "Add at least one.")


DECIMALS_KEPT = 10
# Servers since spring 2026 know it; older ones refuse the bundle.
NEWER = "avg_rank"


def check_leaderboards(bundle: ParsedBundle) -> Iterator[Finding]:
    """Find what is wrong with the leaderboard."""
    boards = bundle.keys.leaderboards
    for board in boards[1:]:
        what = f"Expected one leaderboard; found {shown(board.title)} as well."
        yield Finding("board-many", "warning", bundle.at(*board.key_path), what, IGNORED, "Keep one.")
    for board in boards[:1]:
        yield from _check_board(bundle, board)


def _check_board(bundle: ParsedBundle, board: Board) -> Iterator[Finding]:
    if "index" in board.content:
        what = "A leaderboard's index has no effect."
        yield Finding("board-index", "note", bundle.at(*board.key_path, "index"), what, IGNORED, "Delete it.")
    columns, all_of_them = board.columns, bundle.at(*board.key_path, "columns")
    if not columns:
        what = "It has no columns."
        yield Finding("columns-none", "error", bundle.at(*board.key_path), what, REFUSED, "Add one for each score.")
        return
    indexes = [column.index for column in columns]
    for column in columns:
        yield from _check_column(bundle, column, indexes)
    for key in ("index", "key"):
        values = [value for column in columns if (value := getattr(column, key)) is not None]
        twice = sorted({str(value) for value in values if values.count(value) > 1})
        if twice:
            what = f"Columns share the {key} {', '.join(twice)}."
            yield Finding(f"column-{key}-twice", "error", all_of_them, what, REFUSED, "Make it unique.")
    if board.primary_index not in indexes:
        what = f"No column has the primary index {board.primary_index}."
        where, effect = bundle.at(*board.key_path, "primary_index"), "The leaderboard's page ends in an error."
        yield Finding("board-primary", "error", where, what, effect, "Start the indexes at 0.")
    if all(column.hidden for column in columns):
        what = "Every column is hidden."
        effect = "The leaderboard's page ends in an error."
        yield Finding("columns-hidden", "error", all_of_them, what, effect, "Show one.")
    first = min(
        (column for column in columns if column.index is not None), key=lambda column: column.index, default=None
    )
    if first is not None and first.hidden:
        what = f"The hidden column {shown(first.key)} has the lowest index."
        where, effect = (
            bundle.at(*first.key_path, "hidden"),
            "Participants see its score in their list of submissions anyway.",
        )
        yield Finding("column-first-hidden", "warning", where, what, effect, "Give another column the lowest index.")


def _check_column(bundle: ParsedBundle, column: BoardColumn, indexes: Collection[int]) -> Iterator[Finding]:
    if column.precision > DECIMALS_KEPT:
        what = f"precision: found {column.precision}."
        where, effect = (
            bundle.at(*column.key_path, "precision"),
            f"Codabench keeps {DECIMALS_KEPT} decimals and pads with zeros.",
        )
        yield Finding("column-precision", "warning", where, what, effect, f"Write {DECIMALS_KEPT} or fewer.")
    if "sorting" not in column.content:
        what = f"The column {shown(column.key)} has no sorting."
        effect = "Codabench uses desc: higher is better."
        yield Finding("column-sorting", "warning", bundle.at(*column.key_path), what, effect, "Write asc or desc.")
    if column.computation == NEWER:
        what = f"computation: only newer servers know {NEWER}."
        where, effect = (
            bundle.at(*column.key_path, "computation"),
            "Servers of March 2026 and before refuse the bundle.",
        )
        yield Finding("column-newer", "warning", where, what, effect, "Ask which release the server runs.")
    where, chosen = bundle.at(*column.key_path, "computation_indexes"), column.computation_indexes
    if column.content.get("computation") is None:
        if chosen is not None:
            what = "computation_indexes without computation."
            yield Finding("column-computation", "error", where, what, REFUSED, "Add computation, or delete it.")
    elif not isinstance(chosen, list) or not chosen or any(type(index) is not int for index in chosen):
        what = f"computation_indexes: expected a list of other columns' indexes; found {shown(chosen)}."
        yield Finding(
            "column-computation", "error", where, what, "No submission ever gets a score.", "List them: [0, 1]."
        )
    elif column.index in chosen or any(index not in indexes for index in chosen):
        what = "computation_indexes: expected indexes of other columns."
        yield Finding("column-computation", "error", where, what, REFUSED, "Correct the list.")


# Codabench keeps the bundle and a copy of every data set made from it; both count against one user.
QUOTA_BYTES = 15_000_000_000
LONGEST_NAME = 35


def check_names(bundle: ParsedBundle) -> Iterator[Finding]:
    """Find names of data sets that Codabench cuts."""
    for keys, value in uses_of(bundle):
        name = PurePosixPath(value).name
        if len(name) > LONGEST_NAME and bundle.inside(value) is not None:
            what = f"{keys[-1]}: the name {shown(name)} has {len(name)} characters."
            effect = f"Codabench cuts it to {LONGEST_NAME}."
            yield Finding("path-name", "note", bundle.at(*keys), what, effect, "Use a shorter name.")


def sizes_of_folder(bundle: ParsedBundle) -> dict[str, int]:
    """Return the size of every file that a folder's bundle uses: an upper bound of their zipped size."""
    sizes = {}
    for value in {value for _, value in uses_of(bundle)}:
        path = bundle.inside(value)
        if path is None or path.resolve() == bundle.root.resolve():
            continue
        for file in path.rglob("*") if path.is_dir() else [path]:
            if file.is_file():
                sizes[file.relative_to(bundle.root).as_posix()] = file.stat().st_size
    return sizes


def check_quota(
    bundle: ParsedBundle, sizes: Mapping[str, int], where: Path, packed: int | None = None
) -> Iterator[Finding]:
    """Compare the bundle and each use of each data set with a user's quota.

    `sizes`: name relative to the root -> bytes, zipped if known. `packed`: bytes of the bundle's zip; None for a
    folder, where all sizes are estimates.
    """
    uses: list[int] = []
    for _, value in uses_of(bundle):
        name = str(PurePosixPath(value))
        folder = f"{name}/"
        uses.append(sum(size for file, size in sizes.items() if file == name or file.startswith(folder)))
    total = (sum(sizes.values()) if packed is None else packed) + sum(uses)
    if total <= QUOTA_BYTES:
        return
    what = f"The bundle and its {len(uses)} programs and data sets, each use counted, take {total / 1e9:.1f} GB."
    effect = f"Codabench refuses uploads beyond a user's quota, by default {QUOTA_BYTES / 1e9:.0f} GB."
    fix = "Upload large data separately and name their key."
    yield Finding("zip-quota", "warning" if packed is None else "error", where.name, what, effect, fix)
