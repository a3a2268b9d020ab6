"""Describe in one line what a participant's code raised, where in their files, and what usually helps."""

import errno
import linecache
import os
import resource
import socket
import traceback
import unicodedata
from pathlib import Path

LONGEST = 500
LONGEST_NAME = 80
REFUSED = (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP)
"""Errors with which the sandbox refuses system calls; for files it uses EACCES."""
NETWORK_PACKAGES = frozenset({"jax", "keras", "tensorflow", "torch", "torchvision", "transformers"})
OF_KIND: dict[type[BaseException], str] = {
    FileNotFoundError: "open files below the folder passed to the constructor: assets / 'weights.npz'",
    SystemExit: "do not end the process; raise an exception or return an answer",
    KeyboardInterrupt: "do not end the process; raise an exception or return an answer",
    MemoryError: "use less memory",
    RecursionError: "end the recursion",
}
OF_LIBRARIES = {
    (
        *("protobuf parsing failed", "does not have a graph", "no graph was found"),
        *("failed to parse onnx model", "model_proto.has_graph()"),
    ): "the ONNX file is damaged or incomplete: export it again",
    ("onnx opset", "model ir version"): (
        "export for an older version of ONNX: opset_version=17 with dynamo=False, or model.ir_version = 10 in onnx"
    ),
    ("external data path",): (
        "weights are in a second file: put it beside the first under its own name, or export with dynamo=False"
    ),
    ("onnx_importer",): (
        "OpenCV cannot read this network: use onnxruntime, or export with dynamo=False, into one file"
    ),
    ("__main__'",): "the pickle needs a class of the script that wrote it: move the class to a module, and save again",
    ("failed to allocate memory", "bad_alloc"): OF_KIND[MemoryError],
}
"""What ONNX Runtime, OpenCV and pickle say of a file that they cannot load or run, and what helps."""
OF_A_GPU = ("cuda", "nvidia driver", "no gpu")
GPUS = ("/dev/nvidiactl", "/dev/kfd")
"""Device files that a machine with a GPU has."""


def describe(error: BaseException) -> str:
    """Return type and message of `error`, and what usually helps, in one line of at most 500 characters."""
    text, hint = summarise(error), advise(error)
    return f"{text[: LONGEST - len(hint) - 3]} ({hint})" if hint else text


def summarise(error: BaseException) -> str:
    """Return type and message of `error` in one line of at most 500 characters."""
    return _in_a_line(error)[:LONGEST]


def _in_a_line(error: BaseException) -> str:
    try:
        text = " ".join(str(error).split())
    except Exception:  # noqa: BLE001 - a participant's own exception class may be broken too
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def location(error: BaseException, submission: Path) -> str:
    """Return the file and line of the participant's own code that raised `error`, else `model.py`."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if path.is_relative_to(submission):
            return f"{path.relative_to(submission).as_posix()} line {frame.lineno}, in {frame.name}"
    return "model.py"


def advise(error: BaseException) -> str:
    """Return what usually helps against `error`, or an empty text; it names the limit of memory."""
    advice, (limit, _) = _advice(error), resource.getrlimit(resource.RLIMIT_DATA)
    if advice == OF_KIND[MemoryError] and limit != resource.RLIM_INFINITY:
        return f"{advice}: at most {limit >> 20} MB; keep fewer or smaller frames"
    return advice


def _advice(error: BaseException) -> str:
    text = _in_a_line(error).lower()  # what matters may stand behind a long path
    if isinstance(error, ModuleNotFoundError):
        return in_place_of(error.name or "")
    for kind, advice in OF_KIND.items():
        if isinstance(error, kind):
            return _spelt_otherwise(error) or advice
    if _concerns_network(error):
        return "there is no network: put the weights into your zip"
    if isinstance(error, BlockingIOError) or "can't start new thread" in text:
        return "processes and many threads are not allowed: use num_workers=0, n_jobs=1"
    if isinstance(error, OSError) and error.errno in REFUSED:
        return f"{_called(error)}: a forbidden system call"
    if isinstance(error, PermissionError):
        return "write only into the current folder, os.getcwd(), or tempfile.gettempdir()"
    if isinstance(error, OSError) and error.errno == errno.EFBIG:
        return "files may have at most 64 MB"
    if isinstance(error, OSError) and error.errno == errno.EMFILE:
        return "close files: at most 256 may be open"
    if isinstance(error, ValueError) and "read-only" in text:
        return "frames are read-only: call .copy() before you change one"
    if any(word in text for word in OF_A_GPU):
        if not any(map(os.path.exists, GPUS)):
            return "there is no GPU here: use the CPU, and load weights with map_location='cpu'"
        return "the GPU's memory is full: use less of it" if "out of memory" in text else ""
    return next((advice for words, advice in OF_LIBRARIES.items() if any(word in text for word in words)), "")


def _spelt_otherwise(error: BaseException) -> str:
    """Advise where the missing file is there, but for capitals or the form of Unicode in its name."""
    if not isinstance(error, FileNotFoundError) or not isinstance(error.filename, str):
        return ""
    path = Path(error.filename)
    try:
        names = [other.name for other in path.parent.iterdir() if _folded(other.name) == _folded(path.name)]
    except OSError:
        return ""
    called = ascii(names[0])[:LONGEST_NAME] if names and path.name not in names else ""
    return called and f"the file is called {called} here: spell both alike, best with a-z and digits alone"


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def in_place_of(module: str) -> str:
    """Return what to do without `module`, a package that is not installed."""
    if module.partition(".")[0] in NETWORK_PACKAGES:
        return "export the network to ONNX and run it with onnxruntime.InferenceSession"
    return "put the module beside model.py if it is pure Python, or do without"


def _called(error: OSError) -> str:
    """Quote the call that raised `error`; "this" if its source cannot be read."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return "this"
    frame = frames[-1]
    # Columns count bytes.
    line = linecache.getline(frame.filename, frame.lineno or 0).encode()
    end = frame.end_colno if frame.end_lineno == frame.lineno else None
    return line[frame.colno : end].decode(errors="replace").strip()[:80] or "this"


def _concerns_network(error: BaseException) -> bool:
    """Whether the chain of causes begins with a failed connection."""
    for _ in range(10):
        if isinstance(error, socket.gaierror | ConnectionError) or type(error).__module__ in {"urllib.error", "ssl"}:
            return True
        if isinstance(error, PermissionError) and error.errno == errno.EACCES and error.filename is None:
            # The error for a forbidden file has a file name; the error for a socket has none.
            frames = traceback.extract_tb(error.__traceback__)
            return any(Path(frame.filename).stem == "socket" for frame in frames)
        inner = error.__cause__ or error.__context__
        if inner is None:
            return False
        error = inner
    return False
