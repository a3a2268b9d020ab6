"""The clip that a model sees: facts, frames, sound and words. Pixels come from ingestion when they are asked for."""

import mmap
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from model_process.protocol import Message

Frame = npt.NDArray[np.uint8]
Sound = npt.NDArray[np.float32]
# A frame that is kept takes its slot with it. This many are left so that decoding can go on.
SPARE_SLOTS = 4


class FrameBuffer:
    """Memory shared with ingestion, read-only on this side, cut into slots of one frame each."""

    def __init__(self, number: int, descriptor: int, size: int) -> None:
        self.number = number
        self._memory = mmap.mmap(descriptor, size, prot=mmap.PROT_READ)
        os.close(descriptor)
        self._bytes = np.frombuffer(self._memory, np.uint8)
        self.address: int = self._bytes.__array_interface__["data"][0]
        """Where the memory begins."""
        self.held = 0
        """Slots that the model can see."""


class _Slot:
    """One slot in use: the base object of the frame that is handed out, and of every view derived from it.

    NumPy keeps the base alive as long as any view lives, so the slot goes back to ingestion exactly when the model
    can no longer see it. Frames may be kept for ever; nothing is ever overwritten under a model's eyes.
    """

    def __init__(self, buffer: FrameBuffer, offset: int, shape: tuple[int, ...], release: Callable[[], None]) -> None:
        self._buffer = buffer
        self._release = release
        self.__array_interface__ = {
            "version": 3,
            "typestr": "|u1",
            "shape": shape,
            "data": (buffer.address + offset, True),
        }
        buffer.held += 1

    def __del__(self) -> None:
        self._buffer.held -= 1
        self._release()


class Connection:
    """The model's side of the channel: requests, and the frames that arrive for them."""

    def __init__(self, send: Callable[[dict[str, Any]], None], receive: Callable[[], Message]) -> None:
        self._send = send
        self._receive = receive
        self._buffers: dict[int, FrameBuffer] = {}
        # Finalisers may run at any point, also in the middle of a message, so they only take note here.
        self._released: deque[tuple[int, int]] = deque()
        self._left: deque[int] = deque()
        self._streams: dict[int, deque[dict[str, Any]]] = {}
        self._next_stream = 0
        self._batch = 1
        self._thread = threading.get_ident()

    def send(self, body: dict[str, Any]) -> None:
        """Send `body`, and before it the slots that have become free."""
        self.flush()
        self._send(body)

    def flush(self) -> None:
        """Tell ingestion which slots are free again, and which iterators the model has left."""
        if self._released or self._left:
            released = [self._released.popleft() for _ in range(len(self._released))]
            left = [self._left.popleft() for _ in range(len(self._left))]
            self._send({"op": "free", "slots": released, "left": left})

    def wait_for_call(self) -> dict[str, Any]:
        """Return the next call of ingestion."""
        self._streams.clear()  # an iterator that was kept ends with its call
        while "call" not in (message := self._receive_one()).body:
            self._dispatch(message)
        return message.body

    def frames(self, request: dict[str, Any]) -> Iterator[Frame]:
        """Ask for frames and yield them as they arrive."""
        self._check_thread()
        stream = self._next_stream
        self._next_stream += 1
        self._streams[stream] = deque()
        self.send({"op": "frames", "stream": stream, "request": request})
        try:
            head = self._next(stream)
            if "error" in head:
                raise ValueError(head["error"])
            if "buffer" not in head:  # no frame lies in the interval
                return
            buffer = self._buffers[head["buffer"]]
            shape, slots, streaming = tuple(head["shape"]), int(head["slot_count"]), bool(head["streaming"])
            self._batch = max(1, slots // 3)
            size = int(np.prod(shape))
            while "slot" in (event := self._next(stream)):
                release = partial(self._released.append, (stream, event["slot"]))
                frame = np.asarray(_Slot(buffer, event["slot"] * size, shape, release))
                # A model that keeps every frame would starve the decoder: from here on it gets copies.
                if streaming and buffer.held > max(1, slots - SPARE_SLOTS):
                    frame = frame.copy()
                    frame.flags.writeable = False
                yield frame
                del frame
            if "error" in event:
                raise ValueError(event["error"])
        finally:
            late = self._streams.pop(stream, ())
            self._released.extend((stream, event["slot"]) for event in late if "slot" in event)
            self._left.append(stream)

    def audio(self, rate: int) -> Sound | None:
        """Ask for the clip's sound."""
        self._check_thread()
        self.send({"op": "audio", "rate": rate})
        while (message := self._receive_one()).body.get("op") != "audio":
            self._dispatch(message)
        if message.body.get("silent"):
            return None
        if "error" in message.body:
            raise ValueError(message.body["error"])
        return np.frombuffer(message.blob, np.float32)

    def _check_thread(self) -> None:
        if threading.get_ident() != self._thread:
            raise RuntimeError("a clip can be read only in the thread that calls predict or explain")

    def _next(self, stream: int) -> dict[str, Any]:
        self._check_thread()
        events = self._streams.get(stream)
        if events is None:
            raise RuntimeError("these frames belong to a call that has ended")
        # Slots go back in small batches: early enough for the decoder, without a message for each.
        if not events or len(self._released) >= self._batch:
            self.flush()
        while not events:
            self._dispatch(self._receive_one())
        return events.popleft()

    def _receive_one(self) -> Message:
        message = self._receive()
        if message.descriptor is not None:
            number = message.body["buffer"]
            self._buffers[number] = FrameBuffer(number, message.descriptor, message.body["bytes"])
        for number in message.body.get("drop", ()):
            self._buffers.pop(number, None)
        return message

    def _dispatch(self, message: Message) -> None:
        stream = message.body.get("stream", -1)
        events = [{"slot": slot} for slot in message.body["slots"]] if "slots" in message.body else [message.body]
        if stream in self._streams:
            self._streams[stream].extend(events)
        else:  # for an iterator that the model has left
            self._released.extend((stream, event["slot"]) for event in events if "slot" in event)


@dataclass(frozen=True, eq=False)
class Clip:
    """One clip, as a model sees it. Everything is decoded on demand; nothing tells which clip this is."""

    duration_s: float
    """Length in seconds."""
    fps: float
    """Frames a second, the mean over the clip."""
    width: int
    """Width of a frame in pixels, after rotation."""
    height: int
    """Height of a frame in pixels, after rotation."""
    frame_count: int
    """Number of frames."""
    transcript: str
    """What is said; empty where nothing is known."""
    _connection: Connection

    def frames(
        self,
        count: int | None = None,
        fps: float | None = None,
        start_s: float = 0.0,
        end_s: float | None = None,
        size: tuple[int, int] | None = None,
    ) -> Iterator[Frame]:
        """Yield frames in order, RGB uint8 arrays of shape (height, width, 3), read-only: copy one to draw on it.

        Parameters
        ----------
        count
            This many frames, at the middle of as many equal parts of the interval.
        fps
            This many frames a second. With neither `count` nor `fps`, every frame.
        start_s, end_s
            The interval in seconds; `end_s` is the clip's end when None.
        size
            (width, height) to scale to; None keeps the clip's size.
        """
        request = {"count": count, "fps": fps, "start_s": start_s, "end_s": end_s, "size": size}
        return self._connection.frames(plain(request))

    def frame_at(self, time_s: float, size: tuple[int, int] | None = None) -> Frame:
        """Return the frame that is shown at `time_s` seconds, clamped to the clip."""
        return next(iter(self._connection.frames(plain({"time_s": time_s, "size": size}))))

    def audio(self, rate: int = 16_000) -> Sound | None:
        """Return the sound as mono float32 in [-1, 1] at `rate` samples a second, or None for a clip without sound."""
        return self._connection.audio(plain(rate))


def plain(value: Any) -> Any:  # noqa: ANN401 - an argument of a participant's call
    """Return NumPy numbers as Python's, so that they can be sent."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value
