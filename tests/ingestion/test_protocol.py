import os
import socket
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_process.protocol import HEADER, BadMessage, ChannelClosed, receive, send
from tests import there


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    one, other = socket.socketpair()
    yield one, other
    one.close()
    other.close()


@given(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=9)), st.binary(max_size=300_000))
def test_messages_arrive_whole(body: dict[str, int | str], blob: bytes) -> None:
    one, other = socket.socketpair()
    with one, other:
        sender = threading.Thread(target=send, args=(one, body), kwargs={"blob": blob})
        sender.start()
        message = receive(other)
        sender.join()
    assert (message.body, message.blob, message.descriptor) == (body, blob, None)


def test_a_descriptor_comes_with_its_message(pair: tuple[socket.socket, socket.socket]) -> None:
    one, other = pair
    reading, writing = os.pipe()
    send(one, {"n": 0})
    send(one, {"n": 1}, descriptor=writing)
    os.close(writing)
    assert receive(other).descriptor is None
    received = there(receive(other).descriptor)
    os.write(received, b"x")
    os.close(received)
    assert os.read(reading, 2) == b"x"
    os.close(reading)


@pytest.mark.parametrize(
    "data",
    [
        HEADER.pack(2**31, 0),
        HEADER.pack(2, 2**31) + b"{}",
        HEADER.pack(3, 0) + b"{]}",
        HEADER.pack(2, 0) + b"[]",
        HEADER.pack(2, 0) + b"\xff\xfe",
        HEADER.pack(100_000, 0) + b"[" * 100_000,
    ],
)
def test_forged_messages_are_refused(data: bytes, pair: tuple[socket.socket, socket.socket]) -> None:
    one, other = pair
    one.sendall(data)
    with pytest.raises(BadMessage):
        receive(other)


@pytest.mark.parametrize("data", [b"", b"\x01", HEADER.pack(10, 0) + b"{", HEADER.pack(2, 9) + b"{}abc"])
def test_a_closed_channel_is_noticed_anywhere(data: bytes, pair: tuple[socket.socket, socket.socket]) -> None:
    one, other = pair
    one.sendall(data)
    one.close()
    with pytest.raises(ChannelClosed):
        receive(other)
