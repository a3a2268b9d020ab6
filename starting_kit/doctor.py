"""Look a submission over before it is uploaded, and pack it.

python3 doctor.py check my_submission                     every problem at once, with the fix
python3 doctor.py pack my_submission --out my.zip         check, then write a zip that the platform takes
"""

import argparse
import ast
import io
import re
import stat
import sys
import tempfile
import warnings
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

HERE = Path(__file__).resolve().parent
# In the starting kit the programs lie beside this file; in the repository one level up.
ROOT = HERE if (HERE / "ingestion_program").is_dir() else HERE.parent

# What unpacking raises for a zip that is damaged, has a password, or names places where nothing can be written.
UNPACKING = (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, OSError, EOFError, ValueError)
JUNK = frozenset({"__MACOSX", "__pycache__", "Thumbs.db", "desktop.ini", "node_modules"})
LARGEST_SOURCE = 2 * 2**20
EARLIEST = (1980, 1, 1, 0, 0, 0)

# Modules of the packages in requirements.txt, and of what they bring along.
INSTALLED = frozenset({
    "av", "cv2", "dateutil", "jinja2", "joblib", "markupsafe", "narwhals", "numpy", "pandas", "scipy", "sklearn",
    "threadpoolctl", "yaml",
})  # fmt: skip
NETWORK = frozenset({"ftplib", "http", "smtplib", "socket", "urllib"})
PROCESSES = frozenset({"multiprocessing", "subprocess"})
METHODS = {"__init__": ("self", "assets"), "predict": ("self", "clip"), "explain": ("self", "clip", "prediction")}

SECRET_NAMES = re.compile(
    r"(?i)(^|/)(\.env(\..*)?|\.netrc|\.pypirc|\.npmrc|\.git-credentials|id_(rsa|dsa|ecdsa|ed25519)|credentials(\.json)?|"
    r"service[-_]account.*\.json|.*\.(pem|p12|pfx|key|keystore|kdbx))$"
)
SECRET_TEXTS = {
    "a private key": re.compile(rb"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----"),
    "an access key of Amazon": re.compile(rb"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    "a token of GitHub": re.compile(rb"\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{40,})\b"),
    "a token of Hugging Face": re.compile(rb"\bhf_[A-Za-z0-9]{30,}\b"),
    "a key of OpenAI": re.compile(rb"\bsk-(?:proj-|ant-)?[A-Za-z0-9_-]{32,}\b"),
    "a token of Slack": re.compile(rb"\bxox[abprs]-[A-Za-z0-9-]{20,}\b"),
    "a key of Google": re.compile(rb"\bAIza[0-9A-Za-z_-]{35}\b"),
}
LARGEST_SEARCHED = 8 * 2**20
HOME = re.compile(r"(?:/home/|/Users/|/content/|/kaggle/|[A-Z]:\\)[\w.-]+")


@dataclass(frozen=True)
class Finding:
    """One thing to know about a submission."""

    level: str
    """`error`: it would be refused; `warning`: it will not do what you mean; `note`: it is ignored."""
    code: str
    """Short name."""
    where: str
    """File, and line if there is one."""
    found: str
    """What was found."""
    fix: str
    """What to do."""

    def line(self) -> str:
        """Put it into a line."""
        return f"{self.level}: {self.where}: {self.found}. Fix: {self.fix}. [{self.code}]"


@dataclass(frozen=True)
class Looked:
    """A submission that was looked over."""

    findings: tuple[Finding, ...]
    """Errors first."""
    packed: tuple[str, ...]
    """Files that belong into the zip, ascending."""

    @property
    def good(self) -> bool:
        """Whether nothing would be refused."""
        return all(finding.level != "error" for finding in self.findings)


def look_over(submission: Path) -> Looked:
    """Find everything that is wrong with a submission, without running any of it.

    Parameters
    ----------
    submission
        A folder with `model.py`, or a zip of its content.
    """
    if submission.is_dir():
        return _folder(submission, [])
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "submission"
        findings = list(_unpack(submission, folder))
        return _folder(folder, findings) if folder.is_dir() else Looked(tuple(findings), ())


def pack(submission: Path, looked: Looked) -> bytes:
    """Return a zip of a folder; the same folder gives the same bytes.

    Parameters
    ----------
    submission
        The folder.
    looked
        What was found in it.
    """
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in looked.packed:
            entry = zipfile.ZipInfo(name, EARLIEST)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(entry, (submission / name).read_bytes())
    return target.getvalue()


def _unpack(archive: Path, folder: Path) -> Iterator[Finding]:
    where = archive.name
    try:
        with zipfile.ZipFile(archive) as opened:
            for info in opened.infolist():
                parts = PurePosixPath(info.filename.replace("\\", "/"))
                if parts.is_absolute() or ".." in parts.parts:
                    yield Finding(
                        "error", "zip_path", where, f"the name {info.filename[:80]!r}", "pack the folder again"
                    )
                    return
            names = [info.filename for info in opened.infolist()]
            doubled = sorted({name for name in names if names.count(name) > 1})
            if doubled:
                found = f"{', '.join(doubled[:5])} more than once"
                yield Finding("warning", "zip_double", where, found, "pack the folder again: the last one would count")
            opened.extractall(folder)
    except UNPACKING as error:
        reason = f"no zip that can be unpacked ({str(error)[:100]})"
        yield Finding("error", "zip_broken", where, reason, "pack the folder again as a zip, without a password")


def _folder(folder: Path, found: list[Finding]) -> Looked:
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    packed = [name for name in files if not _is_junk(name)]
    findings = [
        *found,
        *_judged_by_ingestion(folder),
        *_secrets(folder, files),
        *_sources(folder, packed),
        *_left_out(files),
    ]
    order = {"error": 0, "warning": 1, "note": 2}
    unique = dict.fromkeys(sorted(findings, key=lambda finding: order[finding.level]))
    return Looked(tuple(unique), tuple(packed))


def _judged_by_ingestion(folder: Path) -> Iterator[Finding]:
    """Ask the platform's own program: its rules, its limits."""
    program = str(ROOT / "ingestion_program")
    if program not in sys.path:
        sys.path.insert(0, program)
    from ingest.credits import read_credits  # noqa: PLC0415 - the program's path is known only now
    from ingest.settings import read_task  # noqa: PLC0415
    from ingest.submission import check_submission  # noqa: PLC0415

    task = read_task(ROOT / "input_data" / "practice" / "task.yaml")
    for problem in (*check_submission(folder, task.limits), *read_credits(folder)[1]):
        found = f"{problem.found}; expected {problem.expected}"
        yield Finding(problem.severity, problem.code, problem.where, found, problem.fix)


def _secrets(folder: Path, files: Iterable[str]) -> Iterator[Finding]:
    """Find what nobody wants to publish: submissions are stored, and may be made public with a click."""
    for name in files:
        if SECRET_NAMES.search(name):
            yield Finding(
                "error", "secret_file", name, "a file that usually holds a secret", "take it out of the folder"
            )
            continue
        with (folder / name).open("rb") as file:
            data = file.read(LARGEST_SEARCHED)
        for what, pattern in SECRET_TEXTS.items():
            if match := pattern.search(data):
                line = data[: match.start()].count(b"\n") + 1
                fix = "take it out, and make a new one: this one may have been seen"
                yield Finding("error", "secret_text", f"{name}, line {line}", what, fix)


def _sources(folder: Path, names: Iterable[str]) -> Iterator[Finding]:
    own = {PurePosixPath(name).parts[0].removesuffix(".py") for name in names}
    for name in names:
        path = folder / name
        if not name.endswith(".py") or path.stat().st_size > LARGEST_SOURCE:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about escapes in strings: the author's own business
                tree = ast.parse(path.read_bytes(), feature_version=(3, 11))
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None)
            found = f"no Python 3.11 ({getattr(error, 'msg', None) or error})"
            yield Finding("error", "syntax_error", f"{name}, line {line}" if line else name, found, "correct that line")
            continue
        yield from _imports(name, tree, own)
        yield from _paths(name, tree)
        if name == "model.py":
            yield from _model(tree)


def _imports(name: str, tree: ast.Module, own: set[str]) -> Iterator[Finding]:
    for node in ast.walk(tree):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules = [node.module]
        for module in modules:
            top, where = module.partition(".")[0], f"{name}, line {getattr(node, 'lineno', 0)}"
            if top in own:
                continue
            if top not in sys.stdlib_module_names and top not in INSTALLED:
                fix = "put the module into the folder if it is pure Python, or do without; see requirements.txt"
                yield Finding("warning", "module_missing", where, f"an import of {top}, which the platform lacks", fix)
            elif top in NETWORK:
                fix = "put what is needed into the folder: there is no network"
                yield Finding("warning", "network", where, f"an import of {top}", fix)
            elif top in PROCESSES:
                fix = "use threads: processes cannot be started"
                yield Finding("warning", "processes", where, f"an import of {top}", fix)


def _paths(name: str, tree: ast.Module) -> Iterator[Finding]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and (match := HOME.search(node.value)):
            fix = 'open files below the folder that the constructor receives, such as assets / "weights.npz"'
            yield Finding("warning", "own_path", f"{name}, line {node.lineno}", f"the path {match.group()!r}", fix)


def _model(tree: ast.Module) -> Iterator[Finding]:
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Model"]
    imported = any(
        isinstance(node, ast.ImportFrom) and any((alias.asname or alias.name) in ("Model", "*") for alias in node.names)
        for node in tree.body
    )
    if not classes:
        if not imported and not any(isinstance(node, ast.Assign | ast.If | ast.Try) for node in tree.body):
            yield Finding("error", "class_missing", "model.py", "no class Model", "name your class Model")
        return
    (model, *others) = classes
    if others:
        yield Finding("warning", "class_double", "model.py", "several classes Model", "keep one: the last one counts")
    methods = {node.name: node for node in model.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    for method, wanted in METHODS.items():
        if method not in methods:
            if not model.bases and method != "__init__":
                yield Finding("error", "method_missing", "model.py", f"no method {method}", f"add it: {_call(method)}")
        elif isinstance(methods[method], ast.AsyncFunctionDef) or not _takes(methods[method].args, len(wanted)):
            where = f"model.py, line {methods[method].lineno}"
            found = f"{method} with other arguments"
            yield Finding("error", "signature_wrong", where, found, f"write {_call(method)}")


def _call(method: str) -> str:
    return f"def {method}({', '.join(METHODS[method])})"


def _takes(arguments: ast.arguments, count: int) -> bool:
    places = len(arguments.posonlyargs) + len(arguments.args)
    needed = places - len(arguments.defaults)
    named = [default for default in arguments.kw_defaults if default is None]
    return not named and needed <= count and (count <= places or arguments.vararg is not None)


def _left_out(files: Iterable[str]) -> Iterator[Finding]:
    junk = [name for name in files if _is_junk(name)]
    if junk:
        found = f"{len(junk)} files of no use, such as {junk[0]}"
        yield Finding("note", "left_out", "submission", found, "nothing: doctor.py pack leaves them out")


def _is_junk(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return any(part in JUNK or part.startswith(".") for part in parts) or name.endswith(".pyc")


def main(arguments: list[str] | None = None) -> int:
    """Check or pack a submission.

    Returns
    -------
    int
        0 if it would be taken, else 1.
    """
    parser = argparse.ArgumentParser(description="Look a submission over before it is uploaded, and pack it.")
    parser.add_argument("action", choices=("check", "pack"))
    parser.add_argument("submission", type=Path, help="the folder that holds model.py, or (check) a zip of its content")
    parser.add_argument("--out", type=Path, help="the zip to write; default: the folder's name with .zip")
    given = parser.parse_args(arguments)
    submission: Path = given.submission
    if not submission.exists() or (given.action == "pack" and not submission.is_dir()):
        parser.error(f"{submission} is no folder" + ("" if given.action == "pack" else " and no zip"))
    looked = look_over(submission)
    for finding in looked.findings:
        sys.stdout.write(finding.line() + "\n")
    errors = sum(finding.level == "error" for finding in looked.findings)
    sys.stdout.write(f"{submission}: {errors} errors, {len(looked.findings) - errors} other remarks.\n")
    if not looked.good:
        return 1
    if given.action == "pack":
        folder = submission.resolve()
        out: Path = given.out or folder.with_name(folder.name + ".zip")
        # An earlier zip in the folder is no part of the submission.
        packed = tuple(name for name in looked.packed if (folder / name).resolve() != out.resolve())
        looked = replace(looked, packed=packed)
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_bytes(pack(submission, looked))
        sys.stdout.write(f"Packed {len(looked.packed)} files, {out.stat().st_size / 1e6:.2f} MB: {out}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
