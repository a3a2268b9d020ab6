"""Messages between ingestion and the model process: two lengths, then a JSON object and a block of bytes.

No pickle in either direction: unpickling runs code, and the other side may run untrusted code.
"""

import array
import json
import os
import select
import socket
import struct
import time
from dataclasses import dataclass
from typing import Any

HEADER = struct.Struct("<II")
MAXIMUM_JSON_BYTES = 8 << 20
MAXIMUM_BLOB_BYTES = 64 << 20


class ChannelClosed(Exception):
    """The other side has gone."""


class BadMessage(Exception):
    """The other side sent an invalid message; the text says what is wrong."""


def take_channel() -> socket.socket:
    """Return the socket passed as this process's standard input, and replace standard input with an empty one."""
    channel = socket.socket(fileno=os.dup(0))
    # Not /dev/null, which a container may lack.
    nothing, end = os.pipe()
    os.close(end)
    os.dup2(nothing, 0)
    os.close(nothing)
    return channel


@dataclass(frozen=True)
class Message:
    """One message, in either direction."""

    body: dict[str, Any]
    blob: bytes
    """Raw bytes that go with it, often empty."""
    descriptor: int | None
    """A file descriptor that came with it, owned by the receiver."""


def send(channel: socket.socket, body: dict[str, Any], *, blob: bytes = b"", descriptor: int | None = None) -> None:
    """Send one message, with a copy of `descriptor` when there is one.

    Raises ChannelClosed when the other side has gone. Raises TimeoutError when the other side does not read within the
    channel's time-out.
    """
    text = json.dumps(body, separators=(",", ":")).encode()
    data = HEADER.pack(len(text), len(blob)) + text
    try:
        if descriptor is None:
            channel.sendall(data)
        else:
            sent = socket.send_fds(channel, [data], [descriptor])
            channel.sendall(data[sent:])
        if blob:
            channel.sendall(blob)
    except TimeoutError:
        raise
    except OSError as error:
        raise ChannelClosed from error


def receive(channel: socket.socket, deadline: float | None = None) -> Message:
    """Wait for the next message.

    `deadline`: when the whole message must have arrived, in `time.monotonic()` seconds; None waits forever.
    Raises ChannelClosed when the other side has gone.
    Raises BadMessage when a length exceeds its limit or the text is not a JSON object.
    Raises TimeoutError when the deadline has passed.
    """
    head, descriptor = _receive_header(channel, deadline)
    try:
        text_bytes, blob_bytes = HEADER.unpack(head)
        # Lengths are checked before anything is allocated: a forged header must not cost gigabytes.
        if text_bytes > MAXIMUM_JSON_BYTES or blob_bytes > MAXIMUM_BLOB_BYTES:
            raise BadMessage(f"an answer of {text_bytes + blob_bytes} bytes")
        text = _receive_exactly(channel, text_bytes, deadline)
        blob = _receive_exactly(channel, blob_bytes, deadline)
        return Message(_parse(text), bytes(blob), descriptor)
    except BaseException:
        if descriptor is not None:
            os.close(descriptor)
        raise


def _parse(text: bytearray) -> dict[str, Any]:
    try:
        body = json.loads(bytes(text))
        if b"\\ud" in text:  # perhaps a lone surrogate, which cannot be written as UTF-8
            body = _whole_characters(body)
    except (ValueError, RecursionError) as error:
        raise BadMessage("text that is not JSON") from error
    if not isinstance(body, dict):
        raise BadMessage("JSON that is not an object")
    return body


def _whole_characters(value: Any) -> Any:  # noqa: ANN401 - JSON holds anything
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_whole_characters(item) for item in value]
    if isinstance(value, dict):
        return {_whole_characters(key): _whole_characters(item) for key, item in value.items()}
    return value


def _wait(channel: socket.socket, deadline: float | None) -> None:
    """Wait until there is something to read."""
    if deadline is None:
        return
    # Even if data are ready: a sender that floods or trickles must not outlast the deadline.
    left = deadline - time.monotonic()
    poller = select.poll()
    poller.register(channel, select.POLLIN)
    if left <= 0 or not poller.poll(left * 1000):
        raise TimeoutError


def _receive_header(channel: socket.socket, deadline: float | None) -> tuple[bytes, int | None]:
    descriptors: array.array[int] = array.array("i")
    _wait(channel, deadline)
    try:
        data, ancillary, _, _ = channel.recvmsg(HEADER.size, socket.CMSG_SPACE(descriptors.itemsize))
    except ConnectionResetError as error:
        raise ChannelClosed from error
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            descriptors.frombytes(content[: len(content) - len(content) % descriptors.itemsize])
    for extra in descriptors[1:]:
        os.close(extra)
    first = descriptors[0] if descriptors else None
    try:
        if not data:
            raise ChannelClosed
        data += _receive_exactly(channel, HEADER.size - len(data), deadline)
    except BaseException:
        if first is not None:
            os.close(first)
        raise
    return data, first


def _receive_exactly(channel: socket.socket, size: int, deadline: float | None) -> bytearray:
    data = bytearray(size)
    view = memoryview(data)
    while view:
        _wait(channel, deadline)
        try:
            count = channel.recv_into(view)
        except ConnectionResetError as error:
            raise ChannelClosed from error
        if count == 0:
            raise ChannelClosed
        view = view[count:]
    return data
