"""What is said of a model that cannot be loaded, and of what it raises later."""

import _socket
import errno
import socket
import sys
import urllib.error
from pathlib import Path
from typing import Any

import pytest

from model_process import failures
from model_process.failures import describe, location
from model_process.loading import LoadFailure, load_model, runs_alone

METHODS = "  def predict(self, clip): pass\n  def explain(self, clip, prediction): pass\n"
INIT = "  def __init__(self, assets): pass\n"
VERSION = f"Python {sys.version_info.major}.{sys.version_info.minor}"


pytestmark = pytest.mark.usefixtures("imports_undone")


def failure(folder: Path, source: str | bytes, **files: str | bytes) -> dict[str, str]:
    for name, content in {"model": source, **files}.items():
        (folder / f"{name}.py").write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(LoadFailure) as caught:
        load_model(folder)
    report: dict[str, str] = caught.value.report
    return report


def syntax(source: str | bytes, line: int, found: str) -> "Told":
    return source, "syntax_error", {"where": f"model.py line {line}", "found": found, "expected": VERSION}


def classes(source: str, found: str, fix: str = "define class Model") -> "Told":
    return source, "class_missing", {"found": found, "fix": fix}


def form(methods: str, found: str, expected: str = "ordinary method") -> "Told":
    return f"class Model:\n{methods}", "signature_wrong", {"found": found, "expected": expected}


def missing(methods: str, expected: str) -> "Told":
    return f"class Model:\n{methods}", "method_missing", {"expected": expected}


def raising(statement: str, found: str, fix: str) -> "Told":
    source = f"class Model:\n  def __init__(self, assets):\n    {statement}\n{METHODS}"
    return source, "constructor_raised", {"where": "model.py line 3, in __init__", "found": found, "fix": fix}


def without_module(name: str, fix: str) -> "Told":
    where = "model.py line 2, in <module>"
    return f"x = 1\nimport {name}", "module_missing", {"where": where, "found": name.partition(".")[0], "fix": fix}


Told = tuple[str | bytes, str, dict[str, str]]
"""A source, the code of its failure, and what stands in fields of the report."""
PREDICT, EXPLAIN = METHODS.splitlines(keepends=True)
LOOKED_AT = (
    "class Odd(type):\n  def __getattribute__(cls, name): raise RuntimeError('odd')\nclass Net(metaclass=Odd): pass"
)
ABROAD = r"import pickle; pickle.loads(b'c__main__\nNet\n.')"
FRAME = "import numpy as np; x = np.zeros(1); x.flags.writeable = False; x += 1"
LOADS: dict[str, Told] = {
    "tabs": syntax("class Model:\n\tdef a(self):\n        pass\n", 3, "tabs"),
    "latin_1": syntax(b"x = 1\ny = 2\nname = 'caf\xe9'\n", 3, "utf-8"),
    "nul": syntax(b"x = 1\ny = '\x00'\n", 2, "null"),
    "utf_16": (
        "x = 1\n".encode("utf-16"),
        "syntax_error",
        {"where": "model.py line 1", "fix": "save model.py as UTF-8: it is UTF-16"},
    ),
    "python_2": syntax("x = 1\nprint 'hello'\n", 2, ""),
    "newer": syntax("perhaps x = 1\n", 1, ""),
    "unclosed": syntax("x = (1,\n", 1, "never closed"),
    "unknown_encoding": syntax("# coding: klingon\n", 1, "klingon"),
    "no module": without_module("no_such_package", "beside model.py"),
    "no tensorflow": without_module("tensorflow.nn", "onnxruntime"),
    "none": classes("x = 1", "no class"),
    "close": classes(f"class Modell:\n{INIT}{METHODS}", "Modell", "rename Modell to Model"),
    "one that predicts": classes(
        f"class Net:\n  pass\nclass Best:\n{INIT}{METHODS}", "Net, Best", "rename Best to Model"
    ),
    "two": classes(f"class A:\n{METHODS}class B:\n{METHODS}", "A, B", "rename one of these to Model: A, B"),
    "imported ones do not count": classes("from pathlib import Path", "no class"),
    "raises when it is asked for names": classes("def __getattr__(name): raise RuntimeError('odd')", "no class", ""),
    "a class that raises when it is looked at": classes(LOOKED_AT, "no class", ""),
    "another module in its place": classes("import sys; sys.modules['model'] = sys", "no class", ""),
    "no attributes left": classes("globals().clear()", "no class", ""),
    "more arguments": form(f"  def __init__(self, assets, size): pass\n{METHODS}", "(self, assets, size)", "self"),
    "no arguments": form(f"  def __init__(self): pass\n{METHODS}", "__init__(self)", "self"),
    "async": form(f"{INIT}  async def predict(self, clip): pass\n{EXPLAIN}", "async"),
    "generator": form(f"{INIT}  def predict(self, clip): yield\n{EXPLAIN}", "generator"),
    "no init": missing(METHODS, "__init__(self, assets)"),
    "no predict": missing(INIT + EXPLAIN, "predict(self, clip)"),
    "no explain": missing(INIT + PREDICT, "explain(self, clip, prediction)"),
    "weights": raising("open('weights.pt')", "FileNotFoundError", "assets / "),
    "abstract": raising("__import__('abc').ABC.register(1)", "TypeError", "kit.py run"),
    "exit": raising("raise SystemExit(0)", "SystemExit", "do not end the process"),
    "memory": raising("raise MemoryError", "MemoryError", "less memory"),
    "memory of a network": raising("raise RuntimeError('Failed to allocate memory for requested buffer')", "", "less"),
    "a frame": raising(FRAME, "read-only", ".copy()"),
    "cuda": raising("raise RuntimeError('Found no NVIDIA driver on your system')", "NVIDIA", "use the CPU"),
    "unpickling": raising(ABROAD, "Net", "move the class to a module"),
    "a name in another form": raising(
        "open(assets / 'h\u00e9.npz')", "FileNotFoundError", "called 'he\\u0301.npz' here"
    ),
    "a name in other capitals": raising(
        "open(assets / 'WEIGHTS.npz')", "FileNotFoundError", "called 'weights.npz' here"
    ),
    "a name without its folder": raising("open(assets / 'none' / 'weights.npz')", "FileNotFoundError", "assets / "),
    "network": raising("import urllib.error; raise urllib.error.URLError('https://x')", "URLError", "no network"),
    "processes": raising("raise BlockingIOError(11, 'Resource temporarily unavailable')", "Blocking", "num_workers=0"),
}


@pytest.mark.parametrize("name", LOADS)
def test_what_is_said_of_a_source_that_cannot_be_loaded(name: str, tmp_path: Path) -> None:
    source, code, said = LOADS[name]
    for file in ("he\u0301.npz", "weights.npz"):
        (tmp_path / file).touch()
    report = failure(tmp_path, source)
    assert report["code"] == code
    assert report["where"] == said.get("where", report["where"])
    assert [field for field, words in said.items() if words.lower() not in report[field].lower()] == []
    # Not what happens to be installed on this machine.
    assert "hypothesis" not in " ".join(report.values())


def test_advice_about_gpus_fits_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    full = RuntimeError("CUDA out of memory. Tried to allocate 9 GiB")
    monkeypatch.setattr(failures, "GPUS", ("/dev/none",))
    assert "no GPU here" in failures.advise(full)
    monkeypatch.setattr(failures, "GPUS", ("/dev/null",))
    assert failures.advise(full) == "the GPU's memory is full: use less of it"
    assert failures.advise(RuntimeError("CUDA error: invalid device function")) == ""


def test_a_broken_module_beside_the_model_is_named(tmp_path: Path) -> None:
    report = failure(tmp_path, "import part", part="x = 1\nx = = 2\n")
    assert (report["code"], report["where"]) == ("syntax_error", "part.py line 2")


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_bytes(b"\xef\xbb\xbf" + f"class Model:\n{INIT}{METHODS}".encode())
    assert load_model(tmp_path)


ADVICE = {
    "path": (PermissionError(errno.EACCES, "Permission denied", "/etc/x"), "os.getcwd()"),
    "lookup": (socket.gaierror(-3, "Temporary failure in name resolution"), "no network"),
    "refused": (ConnectionRefusedError(), "no network"),
    "chain": (urllib.error.URLError("x"), "no network"),
    "fork": (BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"), "num_workers=0"),
    "thread": (RuntimeError("can't start new thread"), "num_workers=0"),
    "large_file": (OSError(errno.EFBIG, "File too large"), "64 MB"),
    "many_files": (OSError(errno.EMFILE, "Too many open files"), "close files"),
    "recursion": (RecursionError("maximum recursion depth exceeded"), "end the recursion"),
    "value": (ValueError("x"), ""),
}


@pytest.mark.parametrize("name", sorted(ADVICE))
def test_advice_comes_with_the_exception(name: str) -> None:
    error, advice = ADVICE[name]
    text = describe(error)
    assert text.startswith(type(error).__name__)
    assert advice in text
    assert text.endswith(")") == bool(advice)


def test_a_socket_that_may_not_be_opened_is_the_network_and_not_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(socket.socket, "__init__", refuse)
    try:
        socket.create_connection(("127.0.0.1", 1))
    except PermissionError as error:
        text = describe(error)
    assert "no network" in text


def test_a_refused_system_call_is_named() -> None:
    """Python does not tell which call of the kernel it was; the words of the source do."""
    with pytest.raises(OSError, match="not supported") as raised:
        ["ä", _socket.socketpair(socket.AF_INET)]
    assert describe(raised.value).endswith("(_socket.socketpair(socket.AF_INET): a forbidden system call)")
    assert "a system call" not in describe(PermissionError(errno.EACCES, "Permission denied", "/etc/x"))
    assert "(this: a forbidden system call" in describe(OSError(errno.ENOSYS, "Function not implemented"))


def test_long_and_broken_exceptions(tmp_path: Path) -> None:
    class Broken(Exception):
        def __str__(self) -> str:
            raise self

    assert describe(Broken()) == "Broken"
    assert len(describe(ValueError("x" * 9999))) == 500
    assert len(describe(FileNotFoundError("x" * 9999))) <= 500
    assert location(ValueError(), tmp_path) == "model.py"


@pytest.mark.parametrize(
    ("body", "alone"),
    [
        ("runs_alone = True", True),
        ("pass", False),
        ("runs_alone = 'yes'", False),
        ("def __getattr__(self, name): raise SystemExit", False),
    ],
)
def test_a_model_asks_to_run_alone_in_one_way(body: str, alone: bool) -> None:
    names: dict[str, Any] = {}
    exec(f"class Model:\n    {body}", names)  # noqa: S102 - a line of this test
    assert runs_alone(names["Model"]()) is alone
