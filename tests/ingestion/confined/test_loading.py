"""What is said of a model that cannot be loaded, and of what it raises later."""

import _socket
import errno
import socket
import sys
import urllib.error
from pathlib import Path
from typing import Any

import pytest

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


SYNTAX: dict[str, tuple[str | bytes, str, str]] = {
    "tabs": ("class Model:\n\tdef a(self):\n        pass\n", "model.py line 3", "tabs"),
    "latin_1": (b"x = 1\ny = 2\nname = 'caf\xe9'\n", "model.py line 3", "utf-8"),
    "nul": (b"x = 1\ny = '\x00'\n", "model.py line 2", "null"),
    "utf_16": ("x = 1\n".encode("utf-16"), "model.py line 1", ""),
    "python_2": ("x = 1\nprint 'hello'\n", "model.py line 2", VERSION),
    "newer": ("perhaps x = 1\n", "model.py line 1", VERSION),
    "unclosed": ("x = (1,\n", "model.py line 1", "never closed"),
    "unknown_encoding": ("# coding: klingon\n", "model.py line 1", "klingon"),
}


@pytest.mark.parametrize("name", sorted(SYNTAX))
def test_a_source_that_cannot_be_read(name: str, tmp_path: Path) -> None:
    source, where, said = SYNTAX[name]
    report = failure(tmp_path, source)
    assert report["code"] == "syntax_error", report
    assert report["where"] == where
    assert said.lower() in " ".join(report.values()).lower()
    assert VERSION in report["expected"]


def test_a_broken_module_beside_the_model_is_named(tmp_path: Path) -> None:
    report = failure(tmp_path, "import part", part="x = 1\nx = = 2\n")
    assert (report["code"], report["where"]) == ("syntax_error", "part.py line 2")


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_bytes(b"\xef\xbb\xbf" + f"class Model:\n{INIT}{METHODS}".encode())
    assert load_model(tmp_path)


@pytest.mark.parametrize(("module", "advice"), [("no_such_package", "beside model.py"), ("torch.nn", "onnxruntime")])
def test_a_missing_module_comes_with_what_to_do_instead(tmp_path: Path, module: str, advice: str) -> None:
    report = failure(tmp_path, f"x = 1\nimport {module}")
    assert (report["code"], report["where"]) == ("module_missing", "model.py line 2, in <module>")
    assert module.partition(".")[0] in report["found"]
    assert advice in report["fix"]
    # Not what happens to be installed on this machine.
    assert "hypothesis" not in " ".join(report.values())


CLASSES = {
    "none": ("x = 1", "no class", "define class Model"),
    "close": (f"class Modell:\n{INIT}{METHODS}", "Modell", "rename Modell to Model"),
    "one_that_predicts": (f"class Net:\n  pass\nclass Best:\n{INIT}{METHODS}", "Net, Best", "rename Best to Model"),
    "two": (f"class A:\n{METHODS}class B:\n{METHODS}", "A, B", "rename one of these to Model: A, B"),
    "imported_ones_do_not_count": ("from pathlib import Path", "no class", "define class Model"),
}


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_no_class_of_that_name(name: str, tmp_path: Path) -> None:
    source, found, fix = CLASSES[name]
    report = failure(tmp_path, source)
    assert report["code"] == "class_missing"
    assert found in report["found"]
    assert fix in report["fix"]


ODD = {
    "raises when it is asked for names": "def __getattr__(name): raise RuntimeError('odd')",
    "a class that raises when it is looked at": (
        "class Odd(type):\n  def __getattribute__(cls, name): raise RuntimeError('odd')\nclass Net(metaclass=Odd): pass"
    ),
    "another module in its place": "import sys; sys.modules['model'] = sys",
    "no attributes left": "globals().clear()",
}


@pytest.mark.parametrize("name", ODD)
def test_a_module_that_does_odd_things_has_no_class_model_either(name: str, tmp_path: Path) -> None:
    report = failure(tmp_path, ODD[name])
    assert report["code"] == "class_missing"
    assert "no class" in report["found"]


METHOD = {
    "more_arguments": (f"class Model:\n  def __init__(self, assets, size): pass\n{METHODS}", "(self, assets, size)"),
    "no_arguments": (f"class Model:\n  def __init__(self): pass\n{METHODS}", "__init__(self)"),
    "async": (
        f"class Model:\n{INIT}  async def predict(self, clip): pass\n  def explain(self, c, p): pass",
        "async",
    ),
    "generator": (
        f"class Model:\n{INIT}  def predict(self, clip): yield\n  def explain(self, c, p): pass",
        "generator",
    ),
}


@pytest.mark.parametrize("name", sorted(METHOD))
def test_methods_of_another_form(name: str, tmp_path: Path) -> None:
    source, said = METHOD[name]
    report = failure(tmp_path, source)
    assert report["code"] == "signature_wrong"
    assert said in report["found"]
    assert "self" in report["expected"] or "ordinary method" in report["expected"]


MISSING = {
    "__init__(self, assets)": f"class Model:\n{METHODS}",
    "predict(self, clip)": f"class Model:\n{INIT}  def explain(self, clip, prediction): pass",
    "explain(self, clip, prediction)": f"class Model:\n{INIT}  def predict(self, clip): pass",
}


@pytest.mark.parametrize("name", sorted(MISSING))
def test_a_method_that_is_missing(name: str, tmp_path: Path) -> None:
    report = failure(tmp_path, MISSING[name])
    assert (report["code"], report["expected"]) == ("method_missing", name)


RAISED = {
    "weights": ("open('weights.pt')", "FileNotFoundError", "assets / "),
    "abstract": ("__import__('abc').ABC.register(1)", "TypeError", "kit.py run"),
    "exit": ("raise SystemExit(0)", "SystemExit", "do not end the process"),
    "memory": ("raise MemoryError", "MemoryError", "less memory"),
    "a frame": ("import numpy as np; x = np.zeros(1); x.flags.writeable = False; x += 1", "read-only", ".copy()"),
    "cuda": ("raise RuntimeError('Found no NVIDIA driver on your system')", "NVIDIA", "use the CPU"),
    "unpickling": ("raise AttributeError(\"Can't get attribute 'Net' on <module '__main__'>\")", "Net", "kit.py run"),
    "network": ("import urllib.error; raise urllib.error.URLError('https://x')", "URLError", "no network"),
    "processes": ("raise BlockingIOError(11, 'Resource temporarily unavailable')", "Blocking", "num_workers=0"),
}


@pytest.mark.parametrize("name", sorted(RAISED))
def test_a_constructor_that_raises(name: str, tmp_path: Path) -> None:
    statement, found, fix = RAISED[name]
    report = failure(tmp_path, f"class Model:\n  def __init__(self, assets):\n    {statement}\n{METHODS}")
    assert (report["code"], report["where"]) == ("constructor_raised", "model.py line 3, in __init__")
    assert found in report["found"]
    assert fix in report["fix"]


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
