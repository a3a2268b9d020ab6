"""The smallest network as an ONNX file, written field by field, so that no test needs the package that writes them.

The numbers of the fields are those of `onnx.proto` (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto).
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

FLOAT, INTEGER = 1, 2
IR_VERSION, OPSET = 8, 13
Floats = npt.NDArray[np.float32]


def linear_network(weights: Floats, bias: Floats, shape: Sequence[int]) -> bytes:
    """Give a network that multiplies the mean of each channel by weights."""
    nodes = (
        _node("GlobalAveragePool", ["frames"], "means"),
        _node("Flatten", ["means"], "flat", axis=1),
        _node("Gemm", ["flat", "weights", "bias"], "scores", transB=1),
    )
    graph = b"".join([
        *(_part(1, node) for node in nodes),
        _part(2, b"linear"),
        _part(5, _tensor("weights", weights)),
        _part(5, _tensor("bias", bias)),
        _part(11, _value("frames", shape)),
        _part(12, _value("scores", (shape[0], len(bias)))),
    ])  # fmt: skip
    return _number(1, IR_VERSION) + _part(7, graph) + _part(8, _part(1, b"") + _number(2, OPSET))


def stored_outside(location: str, operator: str = "Identity") -> bytes:
    """Give a network whose only numbers, four of them, are in another file; a dot ends an operator's domain."""
    domain, _, kind = operator.rpartition(".")
    entries = {"location": location, "offset": "0", "length": "16"}
    pairs = b"".join(_part(13, _part(1, key.encode()) + _part(2, value.encode())) for key, value in entries.items())
    numbers = _number(1, 4) + _number(2, FLOAT) + _part(8, b"numbers") + pairs + _number(14, 1)
    node = _node(kind, ["numbers"], "scores") + _part(7, domain.encode())
    graph = _part(1, node) + _part(2, b"outside") + _part(5, numbers) + _part(12, _value("scores", (4,)))
    known = _part(8, _part(1, b"") + _number(2, OPSET)) + _part(8, _part(1, domain.encode()) + _number(2, 1))
    return _number(1, IR_VERSION) + _part(7, graph) + known


def _node(kind: str, inputs: Sequence[str], output: str, **attributes: int) -> bytes:
    given = [
        _part(5, _part(1, name.encode()) + _number(3, value) + _number(20, INTEGER))
        for name, value in attributes.items()
    ]
    named = [_part(1, name.encode()) for name in inputs]
    return b"".join([*named, _part(2, output.encode()), _part(4, kind.encode()), *given])


def _tensor(name: str, values: Floats) -> bytes:
    sizes = b"".join(_number(1, size) for size in values.shape)
    return sizes + _number(2, FLOAT) + _part(8, name.encode()) + _part(9, values.astype("<f4").tobytes())


def _value(name: str, shape: Sequence[int]) -> bytes:
    sizes = b"".join(_part(1, _number(1, size)) for size in shape)
    return _part(1, name.encode()) + _part(2, _part(1, _number(1, FLOAT) + _part(2, sizes)))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _part(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    digits = []
    while value > 0x7F:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*digits, value])
