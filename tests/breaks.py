"""Break the project on purpose, one place at a time, and see which tests notice.

    python -m tests.breaks run                    # every break of the list against what `make test` runs
    python -m tests.breaks run scoring_program    # those under a folder; numbers work too: run 3 17
    python -m tests.breaks run --suite test-all   # against everything
    python -m tests.breaks draw                   # draw others for those whose code has changed

The list, `breaks.yaml`, is drawn by lot: each file counts by the number of places that can be broken in it. A break
that survives shows a missing test, or a place that changes nothing. Each is made in a copy of the working tree.
"""

import argparse
import ast
import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue
from xml.etree import ElementTree

import yaml

from tests import ROOT

LIST = ROOT / "tests" / "breaks.yaml"
SEED = 2017
# How many breaks each part of the project gets.
SHARES = {
    "ingestion_program": 30,
    "scoring_program": 38,
    "bundle_tools": 32,
    "starting_kit": 3,
    "solutions": 3,
    "input_data": 4,
    "reference_data": 4,
    "competition.yaml": 3,
    "pages": 3,
}
SUITES = {"test": (), "test-all": ("--all",)}
"""What pytest is called with."""
QUICK_S = 15
"""How long the quickest files near a break may take together: most breaks are found there."""
NOTHING_TO_RUN = 5
LONGEST_S = 1500
"""A suite that has not ended by then hangs, which is noticed."""
NOT_COPIED = {".git", ".venv", "build", "dist", "runs", ".hypothesis", ".mypy_cache", ".pytest_cache", ".ruff_cache"}
"""Entries at the top of the repository that tests do not need."""
SETTINGS = {".yaml", ".csv", ".json", ".md"}
MOST_CHARACTERS = 2_000_000
_COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "in": "not in", "is": "is not"}
_ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "//": "/", "%": "*", "**": "*"}
_NEAR = {
    "ingestion_program": ("tests/ingestion", "tests/hostile"),
    "scoring_program": ("tests/scoring",),
    "bundle_tools/own_clips": ("tests/own_clips",),
    "bundle_tools/phase_data": ("tests/own_clips", "tests/synthetic"),
    "bundle_tools/synthetic": ("tests/synthetic",),
    "bundle_tools/challenge": ("tests/challenge",),
    "bundle_tools/codabench": ("tests/codabench",),
    "bundle_tools": ("tests/cli", "tests/codabench", "tests/challenge"),
    "solutions": ("tests/solutions",),
    "starting_kit": ("tests/kit",),
    "pages": ("tests/pages",),
    "input_data": ("tests/synthetic",),
    "reference_data": ("tests/synthetic",),
    "": ("tests/cli", "tests/codabench", "tests/challenge", "tests/pages"),
}
"""Which tests are asked first; the first start of the path that fits counts."""


@dataclass(frozen=True)
class Break:
    """One place, and what stands there instead."""

    number: int
    """From 1."""
    file: str
    """From the top of the repository."""
    kind: str
    """What was done."""
    before: str
    """Whole lines; they stand in the file once."""
    after: str
    """What replaces them."""


@dataclass(frozen=True)
class Result:
    """What came of a break."""

    number: int
    """Of the break."""
    found_by: str
    """The first test that failed; empty where none did."""
    seconds: float
    """Until it was found, or until all tests had passed."""


def draw(seed: int, before: Sequence[Break] = ()) -> list[Break]:
    """Draw the list, keeping what still stands of the one before: same seed, files and list, same breaks."""
    kept = {one.number: one for one in before if _stands(one)}
    taken = {one.before for one in kept.values()}
    drawn: list[Break] = []
    for part, count in SHARES.items():
        places = [place for path in _files(part) for place in _places(path)]
        for number in range(len(drawn) + 1, len(drawn) + count + 1):
            lot = random.Random(f"{seed} {number}")  # noqa: S311 - a sample of places
            one = kept.get(number)
            while one is None:
                path, kind, start, end, new = lot.choice(places)
                one = _as_lines(path, kind, start, end, new, number)
                if one is not None and one.before in taken:
                    one = None
            taken.add(one.before)
            drawn.append(one)
    return drawn


def _files(part: str) -> list[Path]:
    listed = subprocess.run(["git", "ls-files", part], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = [ROOT / line for line in listed.splitlines()]
    return [path for path in paths if path.suffix in {".py", *SETTINGS, ".j2", ".html"}]


Place = tuple[Path, str, int, int, str]
"""File, kind, start and end in characters, new text."""


def _places(path: Path) -> list[Place]:
    text = path.read_text("utf-8")
    if len(text) > MOST_CHARACTERS:
        return []
    found = _code_places(text) if path.suffix == ".py" else _data_places(path.suffix, text)
    return [(path, *place) for place in found]


def _code_places(text: str) -> Iterator[tuple[str, int, int, str]]:
    tree = ast.parse(text)
    starts = [0, *itertools.accumulate(len(line) for line in text.splitlines(keepends=True))]
    lines = text.splitlines(keepends=True)

    def at(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    def between(left: ast.expr, right: ast.expr) -> tuple[int, int]:
        assert left.end_lineno is not None
        assert left.end_col_offset is not None
        return at(left.end_lineno, left.end_col_offset), at(right.lineno, right.col_offset)

    def span(node: ast.stmt | ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return at(node.lineno, node.col_offset), at(node.end_lineno, node.end_col_offset)

    docstrings = {
        id(node.body[0])
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=left, comparators=[right]):
                yield from _swap(text, *between(left, right), _COMPARISONS, "comparison")
            case ast.BinOp(left=left, right=right):
                yield from _swap(text, *between(left, right), _ARITHMETIC, "arithmetic")
            case ast.BoolOp(values=[left, right]):
                yield from _swap(text, *between(left, right), {"and": "or", "or": "and"}, "and or")
            case ast.If(test=test) | ast.IfExp(test=test):
                start, end = span(test)
                yield "negation", start, end, f"not ({text[start:end]})"
            case ast.Constant(value=bool() as value):
                yield "constant", *span(node), str(not value)
            case ast.Constant(value=int() | float() as value):
                yield "constant", *span(node), repr(value + 1 if isinstance(value, int) else value * 1.5 or 0.5)
            case ast.Expr(value=ast.Call()) if id(node) not in docstrings:
                yield "statement", *span(node), "pass"
            case ast.Raise() | ast.AugAssign():
                yield "statement", *span(node), "pass"
            case ast.Return(value=ast.Call(args=[_, *_]) as value):
                yield "return", *span(value), "None"
            case _:
                pass


def _swap(text: str, start: int, end: int, table: dict[str, str], kind: str) -> Iterator[tuple[str, int, int, str]]:
    word = text[start:end].strip(" ()\n")
    if word in table:
        begin = start + text[start:end].index(word)
        yield kind, begin, begin + len(word), table[word]


def _data_places(suffix: str, text: str) -> Iterator[tuple[str, int, int, str]]:
    if suffix in {".yaml", ".csv", ".json"}:
        for number in re.finditer(r"(?<![\w.])\d+(\.\d+)?(?![\w.])", text):
            changed = f"{float(number[0]) * 0.5 + 0.1:.4f}" if number[1] else str(int(number[0]) + 1)
            yield "number", *number.span(), changed
    if suffix in {".yaml", ".csv", ".md"}:
        for line in re.finditer(r"^[^\n#<|]{8,}\n", text, re.MULTILINE):
            yield "line", *line.span(), ""
    if suffix == ".j2":
        for line in re.finditer(r"^.*\{\{.*\n", text, re.MULTILINE):
            yield "line", *line.span(), ""


def _as_lines(path: Path, kind: str, start: int, end: int, new: str, number: int) -> Break | None:
    """Widen a place to whole lines, until they stand in the file once; None where the new code cannot be read."""
    text = path.read_text("utf-8")
    changed = text[:start] + new + text[end:]
    if path.suffix == ".py":
        try:
            ast.parse(changed)
        except SyntaxError:
            return None
    first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end - 1) + 1 or len(text)
    while text.count(text[first:last]) > 1:
        if first == 0:
            return None
        first = text.rfind("\n", 0, first - 1) + 1
    after = text[first:start] + new + text[end:last]
    file = path.relative_to(ROOT).as_posix()
    return Break(number=number, file=file, kind=kind, before=text[first:last], after=after)


def read_list() -> list[Break]:
    """Read `breaks.yaml`."""
    return [Break(**entry) for entry in yaml.safe_load(LIST.read_text("utf-8"))]


def write_list(drawn: Sequence[Break]) -> None:
    """Write `breaks.yaml`."""
    LIST.write_text(
        yaml.safe_dump([asdict(one) for one in drawn], sort_keys=False, allow_unicode=True, width=120), "utf-8"
    )


@dataclass(frozen=True)
class Survey:
    """What the tests do where nothing is broken."""

    failing: tuple[str, ...]
    """Tests that fail all the same: they can tell nothing here."""
    seconds: dict[str, float]
    """File of tests -> how long its tests take."""


class Workshop:
    """A copy of the working tree, in which one break after the other is made and mended."""

    def __init__(self, folder: Path, suite: str) -> None:
        self._root = Path(shutil.copytree(ROOT, folder, ignore=_not_needed, symlinks=True))
        self._suite = suite

    def survey(self, folders: Sequence[str]) -> Survey:
        """Run all tests of these folders once, with nothing broken."""
        self._call(*folders, "-n", "auto", f"--junitxml={self._root}/survey.xml")
        paths = [path for folder in folders for path in (self._root / folder).rglob("test_*.py")]
        failing, seconds = [], dict.fromkeys(map(self._name, paths), 0.0)
        for case in ElementTree.parse(self._root / "survey.xml").iter("testcase"):  # noqa: S314 - our own file
            # A file that cannot be imported has its name alone; a class of tests follows its file.
            name = re.sub(r"(\btest_\w+)\..*", r"\1", case.get("classname") or case.get("name") or "")
            file = name.replace(".", "/") + ".py"
            seconds[file] = seconds.get(file, 0.0) + float(case.get("time") or 0)
            if case.find("failure") is not None or case.find("error") is not None:
                failing.append(f"{file}::{case.get('name')}" if case.get("classname") else file)
        return Survey(tuple(failing), seconds)

    def try_out(self, one: Break, survey: Survey, only_near: bool) -> Result:
        """Make a break, run the tests until one fails, and mend it."""
        path = self._root / one.file
        text = path.read_text("utf-8")
        started = time.monotonic()
        found = ""
        self._write(path, text.replace(one.before, one.after))
        try:
            for files in _in_order(one, survey, only_near):
                found = found or self._run(*files, *_without(survey.failing))
        finally:
            self._write(path, text)
        return Result(one.number, found, round(time.monotonic() - started, 1))

    def _run(self, *arguments: str) -> str:
        called = self._call("-x", *arguments)
        if called.failed or called.code in {0, NOTHING_TO_RUN}:
            return next(iter(called.failed), "")
        return f"pytest ended with {called.code}"

    def _call(self, *arguments: str) -> "_Called":
        command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "-rfE", "-p", "no:cacheprovider"]
        command.append("--continue-on-collection-errors")  # a machine may lack a package
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(self._root), os.environ.get("PYTHONPATH", "")])}
        # A test may leave something behind that waits for ever; a session of its own can be ended as a whole.
        with subprocess.Popen(
            [*command, *SUITES[self._suite], *arguments],
            cwd=self._root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        ) as process:
            try:
                printed, _ = process.communicate(timeout=LONGEST_S)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return _Called(-1, ["(the tests did not end)"])
        return _Called(process.returncode, re.findall(r"^(?:FAILED|ERROR) (\S+(?:\[.*?\])?)", printed, re.MULTILINE))

    def _name(self, path: Path) -> str:
        return path.relative_to(self._root).as_posix()

    @staticmethod
    def _write(path: Path, text: str) -> None:
        path.write_text(text, "utf-8")
        # Python tells a stale file by its size and its second; a break may change neither.
        for cached in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            cached.unlink()


@dataclass(frozen=True)
class _Called:
    code: int
    failed: list[str]


def _not_needed(folder: str, names: list[str]) -> set[str]:
    return {"__pycache__", *(NOT_COPIED.intersection(names) if Path(folder) == ROOT else ())}


def _in_order(one: Break, survey: Survey, only_near: bool) -> list[list[str]]:
    """Give the files of tests in the order in which they are asked: importers of what is broken, quick, near, all."""
    folders = _near(one)
    files = sorted(survey.seconds, key=lambda file: survey.seconds[file])
    near = [file for file in files if file.startswith(tuple(f"{folder}/" for folder in folders))]
    importers = [file for file in near if _imports(file, one.file)]
    spent = dict(zip(near, itertools.accumulate(survey.seconds[file] for file in near), strict=True))
    groups: list[list[str]] = [importers, [file for file in near if spent[file] < QUICK_S], near]
    if not only_near:
        groups.append(files)
    asked: set[str] = set()
    fresh = []
    for group in groups:
        fresh.append([file for file in group if file not in asked])
        asked.update(group)
    return [group for group in fresh if group]


def _near(one: Break) -> tuple[str, ...]:
    return next(tests for start, tests in _NEAR.items() if one.file.startswith(start))


def _imports(test: str, broken: str) -> bool:
    """Whether a file of tests imports the broken module by its name."""
    path = Path(broken)
    if path.suffix != ".py":
        return False
    package = ".".join(path.parent.parts).removeprefix("ingestion_program.").removeprefix("scoring_program.")
    name = re.escape(path.stem)
    imports = rf"^(from|import) {re.escape(package)}(\.{name}\b| import .*\b{name}\b)"
    return re.search(imports, (ROOT / test).read_text("utf-8"), re.MULTILINE) is not None


def _without(failing: Sequence[str]) -> list[str]:
    return [f"--{'deselect' if '::' in name else 'ignore'}={name}" for name in failing]


def run(breaks: Sequence[Break], shops: Sequence[Workshop], survey: Survey, only_near: bool) -> Iterator[Result]:
    """Try breaks side by side, one in each workshop at a time; results come as they are known."""
    free: SimpleQueue[Workshop] = SimpleQueue()
    for shop in shops:
        free.put(shop)

    def one(broken: Break) -> Result:
        shop = free.get()
        try:
            return shop.try_out(broken, survey, only_near)
        finally:
            free.put(shop)

    with ThreadPoolExecutor(len(shops)) as pool:
        for done in as_completed([pool.submit(one, broken) for broken in breaks]):
            yield done.result()


def main() -> int:
    """Draw the list, or run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, dest="command")
    commands.add_parser("draw", help="draw others for those whose code has changed")
    runner = commands.add_parser("run", help="try breaks")
    runner.add_argument("parts", nargs="*", help="starts of paths, or numbers; all without any")
    runner.add_argument("--suite", choices=SUITES, default="test", help="which tests")
    runner.add_argument("--near", action="store_true", help="only the folders of tests that mirror the broken file's")
    runner.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="how many breaks at once")
    runner.add_argument("--out", type=Path, help="a file for the results, one JSON line a break")
    given = parser.parse_args()
    if given.command == "draw":
        write_list(draw(SEED, read_list()))
        return 0
    wanted = [one for one in read_list() if _wanted(one, given.parts)]
    breaks = [one for one in wanted if _stands(one)]
    if gone := [one.number for one in wanted if one not in breaks]:
        print("The code of these breaks has changed; draw others for them:", *gone)
    found = 0
    with tempfile.TemporaryDirectory(prefix="breaks-") as folder:
        shops = [Workshop(Path(folder) / str(number), given.suite) for number in range(given.workers)]
        survey = shops[0].survey(sorted({near for one in breaks for near in _near(one)}) if given.near else ["tests"])
        print(f"{len(survey.failing)} tests fail here without any break and tell nothing", *survey.failing, sep="\n  ")
        for result in run(breaks, shops, survey, given.near):
            found += bool(result.found_by)
            print(f"{result.number:4} {result.seconds:6.1f} s  {result.found_by or 'SURVIVES'}", flush=True)
            if given.out:
                with given.out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(result)) + "\n")
    print(f"{found} of {len(breaks)} found")
    return 0


def _stands(one: Break) -> bool:
    path = ROOT / one.file
    return path.exists() and path.read_text("utf-8").count(one.before) == 1


def _wanted(one: Break, parts: Sequence[str]) -> bool:
    return not parts or any(part == str(one.number) or one.file.startswith(part) for part in parts)


if __name__ == "__main__":
    sys.exit(main())
