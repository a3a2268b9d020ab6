"""Messages between ingestion and the model process: a JSON object and a block of bytes, their lengths first.

No pickle in either direction: unpickling runs code, and the other side of this channel is a stranger's program.
"""

import array
import json
import socket
import struct
from dataclasses import dataclass
from typing import Any

HEADER = struct.Struct("<II")
MAXIMUM_JSON_BYTES = 8 << 20
MAXIMUM_BLOB_BYTES = 64 << 20


class ChannelClosed(Exception):
    """The other side has gone."""


class BadMessage(Exception):
    """The other side sent something that is not a message; the text says what."""


@dataclass(frozen=True)
class Message:
    """One message of either side."""

    body: dict[str, Any]
    """The JSON object."""
    blob: bytes
    """Raw bytes that belong to it, often empty."""
    descriptor: int | None
    """A file descriptor that came with it, owned by the receiver."""


def send(channel: socket.socket, body: dict[str, Any], *, blob: bytes = b"", descriptor: int | None = None) -> None:
    """Send one message, with a copy of `descriptor` when there is one.

    Raises
    ------
    ChannelClosed
        When the other side has gone.
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
    except (BrokenPipeError, ConnectionResetError, TimeoutError, OSError) as error:
        raise ChannelClosed from error


def receive(channel: socket.socket) -> Message:
    """Wait for the next message.

    Raises
    ------
    ChannelClosed
        When the other side has gone.
    BadMessage
        When lengths are over the limits or the text is not a JSON object.
    """
    head, descriptor = _receive_header(channel)
    text_bytes, blob_bytes = HEADER.unpack(head)
    # Lengths are checked before anything is allocated: a forged header must not cost gigabytes.
    if text_bytes > MAXIMUM_JSON_BYTES or blob_bytes > MAXIMUM_BLOB_BYTES:
        raise BadMessage(f"an answer of {text_bytes + blob_bytes} bytes")
    text = _receive_exactly(channel, text_bytes)
    blob = _receive_exactly(channel, blob_bytes)
    try:
        body = json.loads(bytes(text))
        if b"\\ud" in text:  # half of a character, which nothing could write as UTF-8 later on
            body = _whole_characters(body)
    except (ValueError, RecursionError) as error:
        raise BadMessage("text that is not JSON") from error
    if not isinstance(body, dict):
        raise BadMessage("JSON that is not an object")
    return Message(body, bytes(blob), descriptor)


def _whole_characters(value: Any) -> Any:  # noqa: ANN401 - JSON holds anything
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_whole_characters(item) for item in value]
    if isinstance(value, dict):
        return {_whole_characters(key): _whole_characters(item) for key, item in value.items()}
    return value


def _receive_header(channel: socket.socket) -> tuple[bytes, int | None]:
    descriptors: array.array[int] = array.array("i")
    try:
        data, ancillary, _, _ = channel.recvmsg(HEADER.size, socket.CMSG_SPACE(descriptors.itemsize))
    except ConnectionResetError as error:
        raise ChannelClosed from error
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            descriptors.frombytes(content[: len(content) - len(content) % descriptors.itemsize])
    if not data:
        raise ChannelClosed
    data += _receive_exactly(channel, HEADER.size - len(data))
    return data, descriptors[0] if descriptors else None


def _receive_exactly(channel: socket.socket, size: int) -> bytearray:
    data = bytearray(size)
    view = memoryview(data)
    while view:
        try:
            count = channel.recv_into(view)
        except ConnectionResetError as error:
            raise ChannelClosed from error
        if count == 0:
            raise ChannelClosed
        view = view[count:]
    return data
