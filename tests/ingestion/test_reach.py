"""What a model reaches of the processes that run it: of ingestion, and of the keeper of the seal's key."""

import hmac
import json
import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from ingest.record import seal
from model_process.sandbox import ISOLATION_LEVELS
from tests.hostile.stage import BARE_ROOT
from tests.ingestion.conftest import ONCE, PROGRAM, Outcome, model_source, write_phase
from tests.ingestion.test_sandbox import linux

KEY = bytes(range(100, 132))
# Tries each way into ingestion and its other children, and says what it is allowed to do itself.
REACH = """
import ctypes, errno, os
from pathlib import Path

libc = ctypes.CDLL(None, use_errno=True)

def done(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")

def copied(pid):
    own = ctypes.create_string_buffer(8)
    spans = [(ctypes.c_size_t * 2)(address, 8) for address in (ctypes.addressof(own), 4096)]
    done(libc.process_vm_readv(pid, spans[0], 1, spans[1], 1, 0))

WAYS = {
    "memory": lambda pid: open(f"/proc/{pid}/mem", "rb").close(),
    "environment": lambda pid: open(f"/proc/{pid}/environ", "rb").close(),
    "an open file": lambda pid: open(f"/proc/{pid}/fd/1").close(),
    "traced": lambda pid: done(libc.ptrace(0x4206, pid, None, None)),  # does not stop it
    "copied": copied,
}
STATUS = dict(line.split(":\\t") for line in Path("/proc/self/status").read_text().splitlines())

def reached(pids):
    for pid in pids:
        for way, attempt in WAYS.items():
            try:
                attempt(pid)
            except OSError as error:
                if error.errno != errno.EFAULT:  # allowed, but nothing is mapped there
                    continue
            yield [pid, way]

def look():
    ours = [os.getppid()]
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            _, parent, *_ = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(parent) == os.getppid() and int(path.parent.name) != os.getpid():
            ours.append(int(path.parent.name))
    rights = [STATUS[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs")]
    return {"seen": len(ours), "reached": list(reached(ours)), "rights": rights}
"""
SAYS = "import json, reach; print('found: ' + json.dumps(reach.look()))"


def run_for_real(folder: Path, clip: Path, level: str, command: tuple[str, ...]) -> Outcome:
    """Run ingestion in an interpreter of its own, since the rights of a forked process are those of the tests."""
    write_phase(folder / "input", [clip], {**ONCE, "isolation": {"at_most": level}})
    shutil.copytree(PROGRAM, folder / "program", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "program" / "seal.key").write_text(KEY.hex())
    for name in ("submission", "output", "tmp"):
        (folder / name).mkdir()
    (folder / "submission" / "model.py").write_text(model_source(predict=SAYS))
    (folder / "submission" / "reach.py").write_text(REACH)
    names = ("input", "output", "program", "submission")
    ended = subprocess.run(
        [*command, sys.executable, "-B", str(folder / "program" / "ingestion.py"), *(str(folder / n) for n in names)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={"PATH": os.environ["PATH"], "TMPDIR": str(folder / "tmp"), "CANARY": "x"},
        check=False,
        timeout=100,
    )
    return Outcome(ended.returncode, folder / "output", ended.stdout)


@linux
@pytest.mark.parametrize("command", [(), BARE_ROOT], ids=["as it is", "without capabilities"])
@pytest.mark.parametrize("level", ISOLATION_LEVELS)
def test_no_model_reaches_the_memory_of_ingestion_or_the_key(
    level: str, command: tuple[str, ...], numbered_clip: Path, tmp_path: Path
) -> None:
    if command and (os.geteuid() != 0 or not shutil.which("setpriv")):
        pytest.skip("only root has capabilities")
    outcome = run_for_real(tmp_path, numbered_clip, level, command)
    assert outcome.exit_code == 0, outcome.printed
    (line, *_) = [line for line in (outcome.folder / "model_output.txt").read_text().splitlines() if "found: " in line]
    found = json.loads(line.partition("found: ")[2])
    assert found["reached"] == []
    assert found["seen"] == (2 if level != "full" else 1)  # ingestion and the keeper
    *sets, no_new_privileges = found["rights"]
    assert no_new_privileges == "1"
    if os.geteuid() != 0:  # a user may not lower the bound of what a program could gain, nor gain any of it
        del sets[3]
    assert {int(right, 16) for right in sets} == {0}
    manifest = outcome.json("manifest.json")
    assert manifest.pop("seal") == seal(manifest, partial(hmac.digest, KEY, digest="sha256"))


# The key stands here in reverse, and so does what is searched: the search does not find itself.
SEARCH = """
import sys
from pathlib import Path
sys.path.insert(0, {program!r})
from ingest.keeper import KeyKeeper, read_key

REVERSED = bytes(range({last}, {first}, -1))

def count():
    spans = [line.split()[0].split("-") for line in Path("/proc/self/maps").read_text().splitlines() if " rw" in line]
    with open("/proc/self/mem", "rb", buffering=0) as memory:
        pieces = [memory.seek(int(start, 16)) and memory.read(int(end, 16) - int(start, 16)) for start, end in spans]
    return sum(piece[::-1].count(REVERSED) for piece in pieces)

keeper = KeyKeeper(Path(sys.argv[1]))
assert keeper.keyed and len(keeper.sign(b"a message")) == 32
print(count())
Path(sys.argv[1], "seal.key").write_text("".join(f"{{number:02x}}" for number in range({first} + 1, {last} + 1)))
key = read_key(Path(sys.argv[1]))
print(count())
"""


@linux
def test_ingestion_never_holds_the_key(tmp_path: Path) -> None:
    (tmp_path / "seal.key").write_text(KEY.hex())
    source = SEARCH.format(program=str(PROGRAM), first=KEY[0] - 1, last=KEY[-1])
    ended = subprocess.run([sys.executable, "-c", source, str(tmp_path)], capture_output=True, text=True, check=True)
    before, after = map(int, ended.stdout.split())
    assert before == 0
    assert after > 0  # the search finds a key that was read here
