"""The clip that a model sees: facts, frames, sound and words. Pixels are requested from ingestion on demand."""

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
# A frame that the model keeps occupies its slot. This many slots stay free so that decoding can continue.
SPARE_SLOTS = 4


class FrameBuffer:
    """Memory shared with ingestion, read-only on this side, divided into slots of one frame each."""

    def __init__(self, number: int, descriptor: int, size: int) -> None:
        self.number = number
        self._memory = mmap.mmap(descriptor, size, prot=mmap.PROT_READ)
        os.close(descriptor)
        self._bytes = np.frombuffer(self._memory, np.uint8)
        self.address: int = self._bytes.__array_interface__["data"][0]
        """Address of the first slot."""
        self.in_use = 0
        """Number of slots whose frames the model holds."""


class _Slot:
    """One slot in use: the base object of the frame in it, and of every view derived from that frame.

    NumPy keeps the base alive as long as any view exists, so the slot is returned to ingestion exactly when the model
    can no longer access it. A model may keep frames forever; their pixels are never overwritten.
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
        buffer.in_use += 1

    def __del__(self) -> None:
        self._buffer.in_use -= 1
        self._release()


class Connection:
    """The model's side of the channel: requests, and the frames that arrive for them."""

    def __init__(self, send: Callable[[dict[str, Any]], None], receive: Callable[[], Message]) -> None:
        self._send = send
        self._receive = receive
        self._buffers: dict[int, FrameBuffer] = {}
        # Finalisers may run at any time, even in the middle of a message, so they only record the slot here.
        self._released: deque[tuple[int, int]] = deque()
        self._left: deque[int] = deque()
        self._streams: dict[int, deque[dict[str, Any]]] = {}
        self._next_stream = 0
        self._batch = 1
        self._thread = threading.get_ident()

    def send(self, body: dict[str, Any]) -> None:
        """Send `body`, after the slots that have become free."""
        self.flush()
        self._send(body)

    def flush(self) -> None:
        """Tell ingestion which slots are free again, and which iterators the model has abandoned."""
        if self._released or self._left:
            released = [self._released.popleft() for _ in range(len(self._released))]
            left = [self._left.popleft() for _ in range(len(self._left))]
            self._send({"op": "free", "slots": released, "left": left})

    def wait_for_call(self) -> dict[str, Any]:
        """Wait for ingestion's next call and return it."""
        self._streams.clear()  # an iterator that the model kept ends with its call
        while "call" not in (message := self._receive_one()).body:
            self._dispatch(message)
        return message.body

    def frames(self, request: dict[str, Any]) -> Iterator[Frame]:
        """Request frames and yield them as they arrive."""
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
                # A model that keeps every frame would leave the decoder no slots: from here on it gets copies.
                if streaming and buffer.in_use > max(1, slots - SPARE_SLOTS):
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
        """Request the clip's sound."""
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
        # Return slots in small batches: early enough for the decoder, without one message per slot.
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
        else:  # for an iterator that the model has abandoned
            self._released.extend((stream, event["slot"]) for event in events if "slot" in event)


@dataclass(frozen=True, eq=False)
class Clip:
    """One clip, as a model sees it. Everything is decoded on demand; nothing reveals which clip it is."""

    duration_s: float
    """Length in seconds."""
    fps: float
    """Mean frames per second."""
    width: int
    """Width of a frame in pixels, after rotation."""
    height: int
    """Height of a frame in pixels, after rotation."""
    frame_count: int
    transcript: str
    """The words spoken; empty if unknown."""
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
            Number of frames, taken from the middle of as many equal parts of the interval.
        fps
            Frames per second. With neither `count` nor `fps`, every frame is returned.
        start_s, end_s
            The interval in seconds; None as `end_s` means the end of the clip.
        size
            (width, height) to scale to; None keeps the clip's size.
        """
        request = {"count": count, "fps": fps, "start_s": start_s, "end_s": end_s, "size": size}
        return self._connection.frames(plain(request))

    def frame_at(self, time_s: float, size: tuple[int, int] | None = None) -> Frame:
        """Return the frame shown at `time_s` seconds, clamped to the clip."""
        return next(iter(self._connection.frames(plain({"time_s": time_s, "size": size}))))

    def audio(self, rate: int = 16_000) -> Sound | None:
        """Return the sound as mono float32 in [-1, 1] at `rate` samples per second; None for a clip without sound."""
        return self._connection.audio(plain(rate))


def plain(value: Any) -> Any:  # noqa: ANN401 - an argument of a participant's call
    """Convert NumPy numbers to Python's, so that they can be sent."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value
