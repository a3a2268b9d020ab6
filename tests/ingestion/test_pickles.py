"""Pickles are read by a machine that makes data and calls nothing."""

import codecs
import contextlib
import io
import pickle
import pickletools
import struct
from collections import OrderedDict
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from model_process import pickles
from model_process.pickles import (
    NAMES,
    NumberType,
    PickledArray,
    PickleRefused,
    PlainDict,
    _BoundedFile,
    _DataUnpickler,
    read_pickle,
)

PROTOCOLS = range(6)
CODES = ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", ">i2", ">u4", ">f4", ">f8"]

arrays = st.sampled_from(CODES).flatmap(
    lambda code: st_numpy.arrays(np.dtype(code), st_numpy.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
)
arranged = st.tuples(arrays, st.sampled_from([np.asarray, np.asfortranarray, np.transpose, np.flip])).map(
    lambda pair: pair[1](pair[0])
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**126), 2**126)
    | st.floats()
    | st.text(max_size=20)
    | st.binary(max_size=20)
    | arrays.filter(lambda array: array.size > 0).map(lambda array: array.flat[0])
)
keys = st.text(max_size=8) | st.integers(2, 2**60) | st.binary(max_size=8)
values = st.recursive(
    scalars | arranged,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(keys, inner, max_size=4)
        | st.dictionaries(keys, inner, max_size=4).map(OrderedDict)
    ),
    max_leaves=8,
)


def same(found: Any, wanted: Any) -> bool:  # noqa: ANN401
    """Whether two values are the same, NaN included."""
    if isinstance(found, PickledArray):
        found = found.read()
    if isinstance(wanted, np.ndarray):
        kinds = found.dtype == wanted.dtype.newbyteorder("=") and found.shape == wanted.shape
        return bool(kinds) and np.array_equal(found, wanted, equal_nan=wanted.dtype.kind == "f")
    if isinstance(wanted, dict):
        return list(found) == list(wanted) and all(same(found[key], wanted[key]) for key in wanted)
    if isinstance(wanted, list | tuple):
        alike = type(found) is type(wanted) and len(found) == len(wanted)
        return alike and all(same(one, other) for one, other in zip(found, wanted, strict=True))
    if isinstance(wanted, np.generic):
        wanted = wanted.item()
    both_nan = isinstance(wanted, float) and isinstance(found, float) and np.isnan(wanted) and np.isnan(found)
    return type(found) is type(wanted) and (found == wanted or bool(both_nan))


@settings(max_examples=150)
@given(values, st.sampled_from(PROTOCOLS))
def test_whatever_python_writes_of_plain_data_comes_back(value: object, protocol: int) -> None:
    assert same(read_pickle(pickle.dumps(value, protocol)), value)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_is_long_comes_back_from_a_file(protocol: int, tmp_path: Path) -> None:
    arrays = [np.arange(60_000).astype(code).reshape(200, 300) for code in CODES]
    long = ["a 'text' of \u20ac\n" * 20_000, bytes(range(256)) * 1000, *arrays]
    path = tmp_path / "long.pkl"
    path.write_bytes(pickle.dumps(long, protocol))
    assert same(read_pickle(path), long)


# As written by cPickle and pickle of Python 2.7 with NumPy 1.16.
OF_PYTHON_2 = {
    "text, protocol 0": (b"(dp1\nS'J4GQm9j0JZ0.003.mp4'\np2\nF0.5\ns.", {"J4GQm9j0JZ0.003.mp4": 0.5}),
    "quotes": (b'S"it\'s"\np1\n.', "it's"),
    "escapes": (b"S'a\\n\\x41\\\\'\n.", "a\nA\\"),
    "UTF-8": (b"S'caf\\xc3\\xa9'\n.", "caf\u00e9"),
    "Latin-1": (b"\x80\x02U\x04caf\xe9q\x01.", "caf\u00e9"),
    "long text, protocol 0": (b"S'" + b"x\\n" * 1000 + b"'\n.", "x\n" * 1000),
    "unicode": (b"Vcaf\xe9 \\u20ac\np1\n.", "caf\u00e9 \u20ac"),
    "long": (b"L123L\n.", 123),
    "booleans": (b"(lp1\nI01\naI00\naI7\na.", [True, False, 7]),
    "None and empty": (b"(NI1\n(t(l(dt.", (None, 1, (), [], {})),
    "protocol 1": (b"}q\x01(U\x01aK\x01U\x01bG?\xe0\x00\x00\x00\x00\x00\x00u.", {"a": 1, "b": 0.5}),
    "ordered dict": (
        b"\x80\x02ccollections\nOrderedDict\nq\x01]q\x02(]q\x03(U\x01bK\x01e]q\x04(U\x01aK\x02ee\x85Rq\x05.",
        {"b": 1, "a": 2},
    ),
    "scalar, protocol 2": (
        b"\x80\x02}q\x01U\x05c.mp4q\x02cnumpy.core.multiarray\nscalar\nq\x03cnumpy\ndtype\nq\x04U\x02f8K\x00K\x01\x87R"
        b"q\x05(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tbU\x08\x00\x00\x00\x00\x00\x00\xe0?\x86Rq\x06s.",
        {"c.mp4": 0.5},
    ),
    "scalar, protocol 0": (
        b"cnumpy.core.multiarray\nscalar\np1\n(cnumpy\ndtype\np2\n(S'f4'\nI0\nI1\ntRp3\n(I3\nS'<'\nNNNI-1\nI-1\nI0\ntb"
        b"S'\\x00\\x00\\x80>'\ntRp4\n.",
        0.25,
    ),
    "array, protocol 2": (
        b"\x80\x02cnumpy.core.multiarray\n_reconstruct\nq\x01cnumpy\nndarray\nq\x02K\x00\x85U\x01b\x87Rq\x03(K\x01K\x01K"
        b"\x02K\x02\x87cnumpy\ndtype\nq\x04U\x02u1K\x00K\x01\x87Rq\x05(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xff"
        b"K\x00tb\x89U\x04\x00\x27\xfe\xfftb.",
        np.array([[[0, 39], [254, 255]]], np.uint8),
    ),
    "array, protocol 0": (
        b"cnumpy.core.multiarray\n_reconstruct\np1\n(cnumpy\nndarray\np2\n(I0\ntS'b'\ntRp3\n(I1\n(I3\ntcnumpy\ndtype\n"
        b"(S'u1'\nI0\nI1\ntR(I3\nS'|'\nNNNI-1\nI-1\nI0\ntbI00\nS'\\x00\\'\\n'\ntb.",
        np.array([0, 39, 10], np.uint8),
    ),
}


@pytest.mark.parametrize("name", OF_PYTHON_2)
def test_python_2_is_read(name: str) -> None:
    data, wanted = OF_PYTHON_2[name]
    assert same(read_pickle(data), wanted)


class Attack:
    def __init__(self, *reduced: object) -> None:
        self.reduced = reduced

    def __reduce__(self) -> Any:  # noqa: ANN401
        return self.reduced


U8 = b"cnumpy\ndtype\n(U\x02u1K\x00K\x01tR(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"


def forged_array(shape: bytes, data: bytes, number_type: bytes = U8) -> bytes:
    return (
        b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K\x00tU\x01btR(K\x01"
        + shape
        + number_type
        + (b"\x89" + data + b"tb.")
    )


def forged_buffer(shape: bytes, axes: bytes) -> bytes:
    """An array as Python 3 writes it with protocol 5."""
    return b"cnumpy.core.numeric\n_frombuffer\n(U\x02xx" + U8 + shape + b"U\x01C" + axes + b"tR."


def laughs(levels: int) -> bytes:
    """Ten references to a list of ten references to a list, and so on."""
    data = b"\x80\x02]q\x00"
    for level in range(levels):
        data += b"]q" + bytes([level + 1]) + b"(" + (b"h" + bytes([level])) * 10 + b"e"
    return data + b"\x86" * levels + b"."


ATTACKS: dict[str, tuple[bytes, str]] = {
    "os.system": (b"cos\nsystem\n(S'true'\ntR.", "the name os.system"),
    "eval": (pickle.dumps(Attack(eval, ("1",))), "the name builtins.eval"),
    "chain": (pickle.dumps(Attack(getattr, ("x", "y"))), "the name builtins.getattr"),
    "dotted": (b"\x80\x04\x8c\x05numpy\x8c\x0dndarray.dumps\x93.", "numpy.ndarray.dumps"),
    "deeper": (b"\x80\x04\x8c\x0cnumpy.ndarra\x8c\x01y\x93.", "numpy.ndarra.y"),
    "loads": (b"cnumpy\nload\n(S'x'\ntR.", "the name numpy.load"),
    "called class": (b"cnumpy\nndarray\n(K\x01tR.", "TypeError"),
    "called number": (b"K\x01)R.", "TypeError"),
    "instance": (b"(ios\nsystem\n.", "INST"),
    "object": (b"(cos\nsystem\no.", "the name os.system"),
    "new object": (b"\x80\x02ccollections\nOrderedDict\n)\x81.", "NEWOBJ"),
    "object with keywords": (b"\x80\x04ccollections\nOrderedDict\n)}\x92.", "NEWOBJ_EX"),
    "extension": (b"\x80\x02\x82\x01.", "EXT1"),
    "extension, 2 bytes": (b"\x80\x02\x83\x01\x00.", "EXT2"),
    "extension, 4 bytes": (b"\x80\x02\x84\x01\x00\x00\x00.", "EXT4"),
    "persistent": (b"Pid\n.", "PERSID"),
    "persistent, binary": (b"K\x01Q.", "BINPERSID"),
    "set": (pickle.dumps({1, 2}, 4), "EMPTY_SET"),
    "frozen set": (pickle.dumps(frozenset({1, 2}), 4), "FROZENSET"),
    "buffer": (b"\x80\x05\x97.", "NEXT_BUFFER"),
    "read-only buffer": (b"\x80\x05C\x01x\x98.", "READONLY_BUFFER"),
    "duplicate": (b"K\x01K\x022.", "DUP"),
    "a name as data": (b"cnumpy\nndarray\n.", "a name or an empty array"),
    "state of a dict": (b"}}b.", "a state for an object that has none"),
    "state twice": (
        forged_array(b"(K\x01t", b"U\x01x")[:-1] + b"(K\x01(K\x01t" + U8 + b"\x89U\x01xtb.",
        "a second state",
    ),
    "objects": (forged_array(b"(K\x01t", b"U\x08AAAAAAAA", U8.replace(b"u1", b"O8")), "the number type 'O8'"),
    "void": (forged_array(b"(K\x01t", b"U\x01A", U8.replace(b"U\x02u1", b"U\x0bV2000000000")), "the number type"),
    "flags": (forged_array(b"(K\x01t", b"U\x01A", U8.replace(b"K\x00tb", b"K?tb")), "not plain"),
    "fields": (forged_array(b"(K\x01t", b"U\x01A", U8.replace(b"NNN", b"NN}")), "not plain"),
    "too few bytes": (forged_array(b"(K\x05t", b"U\x01A"), "shape (5,)"),
    "negative shape": (forged_array(b"(J\xff\xff\xff\xfft", b"U\x01A"), "a few whole numbers"),
    "shape of text": (forged_array(b"(U\x01xt", b"U\x01A"), "a few whole numbers"),
    "terabytes": (forged_array(b"(J\xff\xff\xff\x7fJ\xff\xff\xff\x7ft", b"U\x01A"), "an array of"),
    "length beside nothing": (forged_array(b"(\x8a\x09" + bytes(8) + b"\x01K\x00t", b"U\x00"), "an array of"),
    "axes of fractions": (forged_buffer(b"(K\x01K\x02t", b"(G" + bytes(8) + b"K\x01t"), "axes"),
    "axes of booleans": (forged_buffer(b"(K\x01K\x02t", b"(\x89K\x01t"), "axes"),
    "axes twice": (forged_buffer(b"(K\x01K\x02t", b"(K\x00K\x00t"), "axes"),
    "order of nothing": (forged_buffer(b"(K\x01K\x02t", b"N").replace(b"U\x01C", b"U\x01X"), "an unknown order"),
    "many axes": (forged_array(b"(" + b"K\x01" * 9 + b"t", b"U\x01A"), "a few whole numbers"),
    "array that is not empty": (forged_array(b"(K\x01t", b"U\x01A").replace(b"K\x00t", b"K\x01t", 1), "unknown kind"),
    "array of another code": (forged_array(b"(K\x01t", b"U\x01A").replace(b"U\x01b", b"U\x01c", 1), "unknown kind"),
    "array of another class": (forged_array(b"(K\x01t", b"U\x01A").replace(b"ndarray", b"dtype", 1), "unknown kind"),
    "array without state": (
        b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K\x00tU\x01btR.",
        "an empty array",
    ),
    "objects as bytes": (forged_array(b"(K\x01t", b"]"), "not bytes"),
    "scalar without type": (b"cnumpy.core.multiarray\nscalar\n(K\x01U\x01xtR.", "without its type"),
    "scalar of other size": (b"cnumpy.core.multiarray\nscalar\n(" + U8 + b"U\x02xxtR.", "ValueError"),
    "another encoding": (b"c_codecs\nencode\n(X\x01\x00\x00\x00xU\x05rot13tR.", "an encoding other than Latin-1"),
    "long LONG4": (b"\x80\x02\x8b\xff\xff\xff\x7fx.", "LONG4"),
    "negative LONG4": (b"\x80\x02\x8b\xff\xff\xff\xff.", "LONG4"),
    "long BINUNICODE": (b"X" + struct.pack("<I", 2**32 - 1) + b"x.", "a length of"),
    "long BINUNICODE8": (b"\x80\x04\x8d" + struct.pack("<Q", 2**63) + b"x.", "exceeds"),
    "long BYTEARRAY8": (b"\x80\x05\x96" + struct.pack("<Q", 2**63) + b"x.", "a length of"),
    "long BINSTRING": (b"T" + struct.pack("<i", 2**31 - 1) + b"x.", "a length of"),
    "long BINBYTES8": (b"\x80\x04\x8e" + struct.pack("<Q", 2**40) + b"x.", "a length of"),
    "negative BINSTRING": (b"T\xff\xff\xff\xff.", "negative"),
    "long digits": (b"I" + b"9" * 400 + b"\n.", "whole number"),
    "many digits": (b"L" + b"9" * 100_000 + b"L\n.", "a line that is too long"),
    "words": (b"Ionce\n.", "once"),
    "no quotes": (b"Sabc\n.", "quotation marks"),
    "bad escape": (b"S'\\x'\n.", "ValueError"),
    "bad UTF-8": (b"X\x01\x00\x00\x00\xff.", "UnicodeDecodeError"),
    "empty stack": (b"0.", "POP"),
    "nothing": (b".", "IndexError"),
    "no mark": (b"K\x01t.", "IndexError"),
    "no memo": (b"\x80\x02h\x05.", "Memo value not found"),
    "two results": (b"K\x01K\x02.", "an end inside an object"),
    "open mark": (b"(K\x01.", "an end inside an object"),
    "second pickle": (b"K\x01.K\x02.", "3 bytes after the end"),
    "cut off": (pickle.dumps({"a": [1.5] * 9}, 2)[:-3], "ends too early"),
    "protocol 9": (b"\x80\x09N.", "protocol: 9"),
    "same key": (b"(dS'a'\nI1\nsS'a'\nI2\ns.", "the key 'a' twice"),
    "same key, both Pythons": (b"(dS'a'\nI1\nsVa\nI2\ns.", "the key 'a' twice"),
    "tuple as key": (b"(d(I1\ntI1\ns.", "a key that is tuple"),
    "keys that collide": (pickle.dumps({k * (2**61 - 1): 0 for k in range(1, 4)}, 2), "a key that is a large number"),
    "not a number as key": (pickle.dumps({float("nan"): 0}, 2), "a key that is a large number"),
    "places that collide": (b"Np%d\n." % (2**61 - 1), "a memo index"),
    "item for a number": (b"I1\nI2\na.", "AttributeError"),
    "key for a list": (b"(lI1\nI2\ns.", "IndexError"),
    "odd dict": (b"(K\x01d.", "ValueError"),
    "odd items": (b"}(K\x01u.", "IndexError"),
    "contains itself": (b"(lp1\ng1\na.", "deep"),
    "one too deep": (b"]" * 66 + b"a" * 65 + b".", "deep"),
    "deep": (b"]" * 3000 + b"a" * 2999 + b".", "deep"),
    "deep tuples": (b")" + b"\x85" * 3000 + b".", "deep"),
    "many marks": (b"(" * 3000 + b".", "deep"),
    "a type of lists": (b"cnumpy\ndtype\n" + laughs(5)[2:-1] + b"K\x00K\x01\x87R.", "the number type of tuple"),
    "zip": (b"PK\x03\x04rest", "a zip file"),
    "text": (b"hello", "byte"),
    "HTML": (b"<html>", "HTML"),
    "empty": (b"", "ends too early"),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_everything_but_data_is_refused_by_its_name(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data, said = ATTACKS[name]
    imported = Mock(wraps=__import__)
    monkeypatch.setattr("builtins.__import__", imported)
    with pytest.raises(PickleRefused) as refused:
        read_pickle(data)
    monkeypatch.undo()
    assert said in str(refused.value)
    # NumPy imports its own parts to show a type.
    assert not [call.args[0] for call in imported.call_args_list if not call.args[0].startswith("numpy._core.")]


def test_no_other_step_is_taken() -> None:
    refused = {info.name for info in pickletools.opcodes if ord(info.code) not in _DataUnpickler.dispatch}
    assert refused == {
        "ADDITEMS", "BINPERSID", "DUP", "EMPTY_SET", "EXT1", "EXT2", "EXT4", "FROZENSET", "INST", "LONG4", "NEWOBJ",
        "NEWOBJ_EX", "NEXT_BUFFER", "OBJ", "PERSID", "POP", "POP_MARK", "READONLY_BUFFER",
    }  # fmt: skip


def test_names_are_never_looked_up() -> None:
    unpickler = _DataUnpickler(_BoundedFile(io.BytesIO(b"N.")))
    for name in NAMES:
        assert unpickler.find_class(*name.rsplit(".", 1)) is NAMES[name]
    real = [np.dtype, np.ndarray, codecs.encode, OrderedDict, bytes]
    assert not [name for name, stand_in in NAMES.items() if any(stand_in is thing for thing in real)]


@pytest.mark.slow
def test_nothing_is_hashed_that_could_be_deep() -> None:
    """The hash of a tuple in a tuple, a million times, ends the process."""
    deep: tuple[Any, ...] = ()
    for _ in range(1_000_000):
        deep = (deep,)
    names: list[Any] = [name for name in NAMES.values() if callable(name)]
    calls: list[tuple[Any, list[Any]]] = [(name, [deep] * count) for name in names for count in range(1, 6)]
    calls += [
        (NumberType, ["u1", deep, deep]),
        (NAMES["numpy.core.multiarray._reconstruct"], [NAMES["numpy.ndarray"], (0,), deep]),
    ]
    calls += [(PlainDict().__setitem__, [deep, None]), (NumberType("u1", 0, 1).set_state, [(deep,) * 8])]
    for call, arguments in calls:
        with contextlib.suppress(PickleRefused, TypeError, ValueError, RecursionError):
            call(*arguments)


def test_odd_but_harmless_steps_are_read() -> None:
    assert read_pickle(forged_buffer(b"(K\x01K\x02t", b"(K\x01K\x00t")).read().shape == (2, 1)
    two_by_two = forged_buffer(b"(K\x02K\x02t", b"N").replace(b"U\x02xx", b"U\x04abcd").replace(b"U\x01C", b"U\x01F")
    assert read_pickle(two_by_two).read().tobytes() == b"acbd"
    assert read_pickle(b"]" * 65 + b"a" * 64 + b".")
    assert read_pickle(b"\x80\x02Nr\xff\xff\xff\x7f.") is None  # a high place in memory
    assert read_pickle(b"\x80\x04\x95" + struct.pack("<Q", 2**62) + b"N.") is None  # a frame of any length


LONG = struct.pack("<I", 1 << 13) + b"x" * (1 << 13) + b"q\x00"


PAIRS = b"]q\x00(" + b"".join(b"M" + struct.pack("<H", key) + b"N\x86" for key in range(200)) + b"e"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (laughs(9), "500 values"),
        (b"N" * 3000 + b".", "instructions"),
        (b"\x80\x02N" + b"q\x00" * 3000 + b".", "instructions"),
        (b"(X" + LONG + b"c_codecs\nencode\nh\x00\x85R" * 9 + b"l.", "texts and arrays"),
        (PAIRS + b"ccollections\nOrderedDict\nh\x00\x85R" * 40 + b".", "texts and arrays"),
        (b"x" * 70_000, "a file of"),
        (b"(V" + b"x" * 40_000 + b"\n.", "a line that is too long"),
        (b"B" + struct.pack("<I", 20_000) + b"x" * 20_000 + b".", "a length of 20000"),
    ],
)
def test_bombs_end_at_a_limit(data: bytes, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = {
        "MOST_BYTES": 1 << 16,
        "MOST_READS": 2000,
        "LARGEST_PIECE": 1 << 14,
        "MOST_MADE": 1 << 15,
        "MOST_VALUES": 500,
    }
    for name, limit in limits.items():
        monkeypatch.setattr(pickles, name, limit)
    with pytest.raises(PickleRefused, match=said):
        read_pickle(data)


def test_what_stands_in_many_places_is_held_once() -> None:
    image = np.zeros((100, 100), np.uint8)
    for data in (pickle.dumps([image] * 1000), b"(U\x04textq\x00" + b"h\x00" * 1000 + b"l."):
        values = read_pickle(data)
        assert all(value is values[0] for value in values)


SEEDS = [pickle.dumps(value, protocol) for protocol in PROTOCOLS for value in (
    {"a": {"x.mp4": np.float64(0.5), "y.mp4": "0.25"}}, {"x.mp4": ("text", np.zeros((2, 3), np.uint8))}
)] + [data for data, _ in OF_PYTHON_2.values()]  # fmt: skip


@pytest.mark.parametrize("data", SEEDS)
def test_a_pickle_cut_off_anywhere_is_refused(data: bytes) -> None:
    for end in range(len(data)):
        with pytest.raises(PickleRefused):
            read_pickle(data[:end])


@settings(max_examples=10 * settings().max_examples)
@given(
    st.sampled_from(SEEDS),
    st.lists(st.tuples(st.integers(0, 400), st.binary(max_size=3), st.integers(0, 3)), min_size=1, max_size=4),
)
def test_changed_bytes_are_read_or_refused(data: bytes, edits: list[tuple[int, bytes, int]]) -> None:
    for number, new, dropped in edits:
        place = number % (len(data) + 1)
        data = data[:place] + new + data[place + dropped :]
    try:
        read_pickle(data)
    except PickleRefused as refused:
        assert str(refused).isprintable()
        assert len(str(refused)) < 400


@settings(max_examples=4 * settings().max_examples)
@given(st.lists(st.sampled_from([bytes([code]) for code in range(256)] + [U8, b"\x00\x00\x00"]), max_size=60))
def test_any_steps_at_all_are_read_or_refused(steps: list[bytes]) -> None:
    try:
        read_pickle(b"".join(steps))
    except PickleRefused as refused:
        assert str(refused)
