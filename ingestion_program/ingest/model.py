"""The model process, seen from outside: start it, ask it, serve its requests, and end it when it hangs or dies."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from threading import RLock, Thread
from typing import Any

from ingest import guard
from ingest.buffers import FrameBuffer
from ingest.errors import IngestionError, Problem, Stage
from ingest.frame_server import FrameServer
from ingest.settings import Isolation, Limits
from ingest.video import BadRequest, ClipFacts
from ingest.watch import Watch
from model_process.packing import unpack
from model_process.protocol import MAXIMUM_BLOB_BYTES, BadMessage, ChannelClosed, Message, receive, send
from model_process.sandbox import TIERS, Tier, Walls

MAIN = Path(__file__).resolve().parent.parent / "model_process" / "__main__.py"
KEPT_OUTPUT = 64 << 10
"""Bytes of the model's printed output that are kept, the last ones."""
FILE_MB = 64
"""Largest file that a model may write into its scratch folder, MB."""
PASSED_VARIABLES = ("PATH", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES")


class CallFailed(Exception):
    """A call gave no answer."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.line())
        self.problem = problem


class LoadFailed(CallFailed):
    """The model could not be loaded."""


class ModelProcess:
    """One process that holds the participant's model. After it has died a new one is started with `start`."""

    def __init__(
        self, submission: Path, packages: Path | None, frames: FrameServer, limits: Limits, isolation: Isolation
    ) -> None:
        self._submission = submission.resolve()
        self._packages = packages
        self._isolation = isolation
        self._frames = frames
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None
        self._drainer: Thread | None = None
        self._scratch: Path | None = None
        self._watch: Watch | None = None
        self._shared_before: set[Path] = set()
        self._known: set[int] = set()
        self._dropped: list[int] = []
        # Frames are announced by the decoders' threads too.
        self._sending = RLock()
        self.output = bytearray()
        """The last 64 KiB that the model printed."""
        self._calls = 0
        self.starts = 0
        """How often the process was started."""
        self.tier: Tier | None = None
        """What holds the process in; None before the first start."""

    @property
    def alive(self) -> bool:
        """Whether the process can be asked."""
        return self._process is not None

    def start(self) -> None:
        """Start the process and load the model.

        Raises
        ------
        LoadFailed
            When the model cannot be loaded in time.
        IngestionError
            When this machine cannot hold a model in as the settings require.
        """
        self.stop()
        self.starts += 1
        self._scratch = Path(tempfile.mkdtemp(prefix="model-")).resolve()
        self._shared_before = guard.shared_files()
        ours, theirs = socket.socketpair()
        ours.settimeout(self._limits.call_s)
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - the interpreter and our own file
                [
                    sys.executable,
                    "-s",
                    "-P",
                    str(MAIN),
                    str(theirs.fileno()),
                    json.dumps(self._walls(self._scratch).record()),
                ],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=self._scratch,
                env=_environment(self._scratch, self._packages),
                start_new_session=True,
            )
        self._watch = Watch(self._process, self._scratch, self._shared_before, self._limits.memory_mb)
        self._drainer = Thread(target=self._drain, args=(self._process, self._watch), daemon=True)
        self._drainer.start()
        self._channel = ours
        self._known.clear()
        self._dropped.clear()
        deadline = time.monotonic() + self._limits.load_s
        try:
            self._check_tier(self._receive(deadline).body)
            self._send({"op": "load", "submission": str(self._submission)})
            body = self._receive(deadline).body
            if body.get("op") != "ready":
                text = {key: str(body.get(key, ""))[:600] for key in ("code", "where", "found", "expected", "fix")}
                problem = Problem(text["code"], "load", text["where"], text["found"], text["expected"], text["fix"])
                raise LoadFailed(problem)
        except (LoadFailed, IngestionError):
            self.stop()
            raise
        except (ChannelClosed, BadMessage, TimeoutError) as error:
            raise LoadFailed(self._end_badly(error, "load", self._limits.load_s)) from None

    def predict(self, facts: ClipFacts, transcript: str, timeout_s: float) -> object:
        """Return what `predict` returned, as plain JSON types and arrays.

        Raises
        ------
        CallFailed
            When it raised, crashed or hung.
        """
        return self._call({"call": "predict"}, facts, transcript, "predict", timeout_s)

    def explain(self, facts: ClipFacts, transcript: str, prediction: dict[str, float], timeout_s: float) -> object:
        """Return what `explain` returned, as plain JSON types and arrays.

        Raises
        ------
        CallFailed
            When it raised, crashed or hung.
        """
        return self._call({"call": "explain", "prediction": prediction}, facts, transcript, "explain", timeout_s)

    def forget(self, buffers: list[int]) -> None:
        """Let the model's side drop buffers that are gone; said with the next call."""
        self._dropped += buffers

    def stop(self) -> None:
        """End the process and everything that it started."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None
            guard.end_descendants()
            guard.sweep_shared_files(self._shared_before)
        if self._watch is not None:
            self._watch.stop()
            self._watch = None
        if self._drainer is not None:  # the last words may still be in the pipe
            self._drainer.join(timeout=1)
            self._drainer = None
        if self._scratch is not None:
            guard.remove(self._scratch)
            self._scratch = None

    def _walls(self, scratch: Path) -> Walls:
        return Walls(
            at_most=self._isolation.at_most,
            scratch=scratch,
            submission=self._submission,
            packages=self._packages,
            memory_mb=self._limits.memory_mb,
            file_mb=FILE_MB,
            cpu_s=int(self._limits.time_limit_s) * (os.cpu_count() or 1),
            parent=os.getpid(),
        )

    def _check_tier(self, body: dict[str, Any]) -> None:
        """Hold what the process says of its walls, before any of the participant's code runs, against the settings."""
        if body.get("op") != "confined" or body.get("tier") not in TIERS:
            raise BadMessage("no word about its walls")
        self.tier = body["tier"]
        if TIERS.index(body["tier"]) < TIERS.index(self._isolation.require):
            fix = "use a worker with Linux 5.13 or newer, or lower isolation.require in task.yaml"
            found, expected = f"isolation tier {self.tier}", f"at least {self._isolation.require}"
            problem = Problem("isolation_too_weak", "run", "this machine", found, expected, fix, fault="organiser")
            raise IngestionError([problem])

    def _call(self, order: dict[str, Any], facts: ClipFacts, transcript: str, stage: Stage, timeout_s: float) -> object:
        clip = {
            "duration_s": facts.duration_s,
            "fps": facts.fps,
            "width": facts.width,
            "height": facts.height,
            "frame_count": len(facts.times),
            "transcript": transcript,
        }
        deadline = time.monotonic() + timeout_s
        dropped, self._dropped = self._dropped, []
        self._calls += 1
        try:
            self._send({**order, "number": self._calls, "clip": clip, "drop": dropped})
            while True:
                message = self._receive(deadline)
                if message.body.get("op") not in {"answer", "raised"}:
                    self._serve(message.body)
                    continue
                if message.body.get("number") != self._calls:
                    # Said twice, or before it was asked: nothing of this process can be believed any more.
                    raise BadMessage("an answer to another question")
                if message.body["op"] == "raised":
                    raise CallFailed(_raised(message.body, stage))
                return unpack(message.body.get("value"), message.blob)
        except CallFailed:
            raise
        except (ChannelClosed, BadMessage, TimeoutError) as error:
            raise CallFailed(self._end_badly(error, stage, timeout_s)) from None
        except Exception as error:
            odd = BadMessage(f"something that cannot be read ({type(error).__name__})")
            raise CallFailed(self._end_badly(odd, stage, timeout_s)) from error

    def _serve(self, body: dict[str, Any]) -> None:
        try:
            match body["op"]:
                case "frames":
                    self._frames.open(int(body["stream"]), body["request"], self._send_frames)
                case "free":
                    slots = [(int(number), int(slot)) for number, slot in body["slots"]]
                    self._frames.free(slots, [int(number) for number in body["left"]])
                case "audio":
                    self._send_sound(body["rate"])
                case other:
                    raise BadMessage(f"the unknown request {other!r:.40}")
        except (KeyError, TypeError, ValueError) as error:
            raise BadMessage("a malformed request") from error

    def _send_sound(self, rate: object) -> None:
        try:
            sound = self._frames.sound(rate)
        except BadRequest as error:
            self._send({"op": "audio", "error": str(error)})
            return
        if sound is not None and sound.nbytes > MAXIMUM_BLOB_BYTES:
            self._send({"op": "audio", "error": f"audio: too long for {rate} samples a second; ask for a lower rate"})
        elif sound is None:
            self._send({"op": "audio", "silent": True})
        else:
            self._send({"op": "audio"}, blob=sound.tobytes())

    def _send_frames(self, body: dict[str, Any], buffer: FrameBuffer | None) -> None:
        with self._sending:
            descriptor = None
            if buffer is not None and buffer.number not in self._known:
                self._known.add(buffer.number)
                descriptor = buffer.descriptor
            # The process may just have died; whoever waits for its answer will find out.
            with contextlib.suppress(ChannelClosed, TimeoutError):
                self._send(body, descriptor=descriptor)

    def _send(self, body: dict[str, Any], *, blob: bytes = b"", descriptor: int | None = None) -> None:
        with self._sending:
            channel = self._channel  # another thread may be ending the process
            if channel is None:
                raise ChannelClosed
            send(channel, body, blob=blob, descriptor=descriptor)

    def _receive(self, deadline: float) -> Message:
        if self._channel is None:
            raise ChannelClosed
        message = receive(self._channel, deadline)
        if message.descriptor is not None:
            os.close(message.descriptor)
            raise BadMessage("a file descriptor")
        return message

    def _end_badly(self, error: Exception, stage: Stage, timeout_s: float) -> Problem:
        """End the process and say why it gave no answer."""
        process, watch = self._process, self._watch
        status: int | None = None
        if isinstance(error, ChannelClosed) and process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                status = process.wait(timeout=2)
        self.stop()
        where = "model.py" if stage == "load" else stage
        if watch is not None and watch.reason is not None:
            return Problem("too_much", stage, where, *watch.reason)
        if isinstance(error, TimeoutError):
            return Problem(
                "timeout", stage, where, f"no answer after {timeout_s:.0f} s", "an answer in time", "do less per call"
            )
        if isinstance(error, BadMessage):
            fix = "return less; do not write to inherited file descriptors"
            return Problem("bad_answer", stage, where, str(error), "a small answer", fix)
        if status is None or status >= 0:
            found = "the model process ended by itself" + ("" if status is None else f" (exit {status})")
            fix = "do not call exit; return an answer or raise an exception"
        else:
            names = {number.value: number.name for number in signal.Signals}
            found = f"the model process was ended by {names.get(-status, f'signal {-status}')}"
            fix = "a crash in native code or too much memory: try the clip at home"
        return Problem("crashed", stage, where, found, "a process that lives on", fix)

    def _drain(self, process: "subprocess.Popen[bytes]", watch: Watch) -> None:
        if process.stdout is None:
            return
        while chunk := os.read(process.stdout.fileno(), 1 << 16):
            watch.printed_bytes += len(chunk)
            self.output += chunk
            del self.output[:-KEPT_OUTPUT]


def _raised(body: dict[str, Any], stage: Stage) -> Problem:
    found, where = str(body.get("found", ""))[:600], str(body.get("where", ""))[:200]
    return Problem("model_raised", stage, where, found, "an answer for every clip", "correct that line")


def _environment(scratch: Path, packages: Path | None) -> dict[str, str]:
    """Return a clean environment: nothing of ours leaks into it, and results do not depend on the host's settings."""
    cores = str(os.cpu_count() or 1)
    return {
        **{name: os.environ[name] for name in PASSED_VARIABLES if name in os.environ},
        **({"PYTHONPATH": str(packages)} if packages else {}),
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "OMP_NUM_THREADS": cores,
        "OPENBLAS_NUM_THREADS": cores,
        "MKL_NUM_THREADS": cores,
    }
