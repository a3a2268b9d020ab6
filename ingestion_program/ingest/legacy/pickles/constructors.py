"""The few names that a pickle of data needs, and what each makes of its arguments. Nothing is imported or called."""

import struct
from collections.abc import Callable
from typing import Any

from ingest.legacy.pickles.limits import Limits
from ingest.legacy.pickles.refusal import PickleRefused
from ingest.legacy.pickles.source import OldString, Stored, latin1
from ingest.legacy.pickles.values import TYPE_CODE, ArrayInMaking, Name, NumberType, StoredArray

LARGEST_RANK = 8
LARGEST_KEY = 1 << 60
"""Of a dict; up to it all whole numbers have hashes of their own."""
STRUCT_CODES = {
    "b1": "?", "i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I", "u8": "Q",
    "f2": "e", "f4": "f", "f8": "d",
}  # fmt: skip
ORDERS = ("<", ">", "|")


def find_name(module: str, name: str) -> Name:
    """Return one of the known names.

    Raises
    ------
    PickleRefused
        For any other name, which is told.
    """
    text = f"{module}.{name}"
    known = text.replace("numpy._core.", "numpy.core.")  # as NumPy 2 says
    if known not in KNOWN:
        raise PickleRefused(f"the name {ascii(text)[1:-1][:200]}, which is not data")
    return Name(known)


def make(name: object, arguments: tuple[Any, ...], limits: Limits) -> Any:  # noqa: ANN401 - data of any shape
    """Return what `name` makes of `arguments`.

    Raises
    ------
    PickleRefused
        When the arguments are not exactly those that a pickle of data has.
    """
    if not isinstance(name, Name):
        raise PickleRefused("a call of something that is no name")
    maker = MAKERS.get(name.text)
    if maker is None:
        raise PickleRefused(f"a call of {name.text}")
    try:
        return maker(limits, *arguments)
    except (TypeError, ValueError, struct.error):
        raise PickleRefused(f"strange arguments of {name.text}") from None


def complete(value: object, state: object, limits: Limits) -> None:
    """Add what a pickle says of an array or a type after making it.

    Raises
    ------
    PickleRefused
        When it is said of anything else, or is not what it should be.
    """
    if isinstance(value, NumberType) and isinstance(state, tuple):
        _complete_type(value, state)
    elif isinstance(value, ArrayInMaking) and value.content is None and isinstance(state, tuple) and len(state) == 5:
        _, shape, number_type, fortran, data = state
        order = "F" if isinstance(fortran, int) and fortran else "C"
        value.content = _array(limits, number_type, shape, order, None, data)
    else:
        raise PickleRefused("a state of something that has none")


def _complete_type(value: NumberType, state: tuple[Any, ...]) -> None:
    # version, byte order, then: no fields, of a plain type
    plain = tuple(_word(part) or part for part in state)
    for version, more in ((3, ()), (4, (None,))):
        for order in ORDERS:
            if plain == (version, order, None, None, None, -1, -1, 0, *more):
                value.order = order
                return
    raise PickleRefused("a number type that is not plain")


def _number_type(_: Limits, code: object, align: object, copy: object) -> NumberType:
    match = TYPE_CODE.fullmatch(_word(code))
    if match is None or align not in {0, 1} or copy not in {0, 1}:
        raise PickleRefused(f"the number type {ascii(_word(code))[:40]}; booleans, integers and floats are read")
    word = _word(code)
    return NumberType(match[1], word[0] if word[0] in ORDERS else "|")


def _scalar(_: Limits, number_type: object, data: object) -> float:
    if not isinstance(number_type, NumberType) or not isinstance(data, bytes):
        raise PickleRefused("a number without its type")
    order = number_type.order if number_type.order in "<>" else "="
    value: float = struct.unpack(order + STRUCT_CODES[number_type.code], data)[0]
    return value


def _reconstruct(_: Limits, kind: object, shape: object, code: object) -> ArrayInMaking:
    if kind != Name("numpy.ndarray") or shape != (0,) or code not in {b"b", "b"}:
        raise PickleRefused("an array of an unknown kind")
    return ArrayInMaking()


def _from_buffer(
    limits: Limits, data: object, number_type: object, shape: object, order: object, axes: object = None
) -> ArrayInMaking:
    if _word(order) not in {"C", "F", "K"}:
        raise PickleRefused("an array in an unknown order")
    return ArrayInMaking(_array(limits, number_type, shape, _word(order), axes, data))


def _array(limits: Limits, number_type: object, shape: object, order: str, axes: object, data: object) -> StoredArray:
    if not isinstance(number_type, NumberType) or not isinstance(shape, tuple) or len(shape) > LARGEST_RANK:
        raise PickleRefused("an array without a type or a shape")
    if isinstance(data, str) or not isinstance(data, bytes | Stored):
        raise PickleRefused("an array whose content is not bytes")
    size = number_type.dtype().itemsize
    for length in shape:
        if type(length) is not int or length < 0:
            raise PickleRefused("an array whose shape is not made of whole numbers")
        size *= max(length, 1)  # an axis of nothing must not hide how long another one is
    if size > limits.array_bytes:
        raise PickleRefused(f"an array of {size} bytes; at most {limits.array_bytes} are read")
    whole = isinstance(axes, tuple) and all(type(axis) is int for axis in axes)  # 0.0 and False are equal to 0
    if axes is not None and (not isinstance(axes, tuple) or not whole or sorted(axes) != list(range(len(shape)))):
        raise PickleRefused("an array whose axes are not in any order")
    return StoredArray(number_type.dtype(), shape, order, axes, data)


def _encode(_: Limits, text: object, encoding: object = "latin1") -> bytes | Stored:
    """Python 3 writes bytes for Python 2 as a text with one character a byte."""
    if _word(encoding) not in {"latin1", "latin-1"}:
        raise PickleRefused("bytes in another encoding than Latin-1")
    if isinstance(text, Stored) and text.form in {"text", "escaped"}:
        return Stored(text.source, text.offset, text.length, text.form, as_latin1=True)
    if not isinstance(text, str):
        raise PickleRefused("bytes that are not written as text")
    return latin1(text)


def _bytes(_: Limits) -> bytes:
    return b""


def _ordered(_: Limits, pairs: object = ()) -> dict[Any, Any]:
    if not isinstance(pairs, list | tuple):
        raise PickleRefused("an ordered dict of something else than pairs")
    ordered: dict[Any, Any] = {}
    for pair in pairs:
        key, value = pair
        put(ordered, key, value)
    return ordered


def put(target: dict[Any, Any], key: object, value: object) -> None:
    """Put a value into a dict whose keys are plain and different.

    Raises
    ------
    PickleRefused
        When the key is neither text nor a number, or is there already.
    """
    if isinstance(key, OldString):
        key = key.text()
    if not isinstance(key, str | bytes | int | float | None):
        raise PickleRefused(f"a key that is {type(key).__name__}")
    # Python finds larger numbers by their remainder: chosen ones all lie in one place, and adding them takes hours.
    if isinstance(key, int | float) and not abs(key) <= LARGEST_KEY:
        raise PickleRefused("a key that is a large number")
    if key in target:
        raise PickleRefused(f"the key {ascii(key)[:80]} a second time")
    target[key] = value


def _word(value: object) -> str:
    if isinstance(value, OldString):
        return value.text()
    return value if isinstance(value, str) else ""


MAKERS: dict[str, Callable[..., Any]] = {
    "numpy.core.multiarray._reconstruct": _reconstruct,
    "numpy.core.multiarray.scalar": _scalar,
    "numpy.core.numeric._frombuffer": _from_buffer,
    "numpy.dtype": _number_type,
    "_codecs.encode": _encode,
    "collections.OrderedDict": _ordered,
    "__builtin__.bytes": _bytes,
    "builtins.bytes": _bytes,
}
"""What each name makes."""
KNOWN = frozenset({*MAKERS, "numpy.ndarray"})
"""All names; the last one may only stand as an argument."""
