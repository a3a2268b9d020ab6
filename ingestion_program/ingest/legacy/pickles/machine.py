"""The stack machine: one step for each opcode that data need, a refusal for every other.

The opcodes are those that `pickletools` of the standard library describes. Its own reader is not used: it decodes
every argument at once, and asks for as many bytes as a file says there are.
"""

import pickletools
import struct
from collections.abc import Callable
from typing import Any

from ingest.legacy.pickles.constructors import LARGEST_KEY, complete, find_name, make, put
from ingest.legacy.pickles.refusal import PickleRefused
from ingest.legacy.pickles.source import LONGEST_WORD, Form, OldString, Source

HIGHEST_PROTOCOL = 5
LARGEST_INTEGER_BYTES = 16
STOP = b"."
NAMES = {info.code: info.name for info in pickletools.opcodes}


class Machine:
    """Reads one pickle."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._limits = source.limits
        self._stack: list[Any] = []
        self._marked: list[list[Any]] = []
        self._memo: dict[int, Any] = {}
        self._steps = self._table()

    def run(self) -> Any:  # noqa: ANN401 - data of any shape
        """Return what the pickle builds; arrays and strings of Python 2 are still as they were made.

        Raises
        ------
        PickleRefused
            At the first thing that is not plain data, or beyond a limit.
        """
        try:
            return self._run()
        except PickleRefused as refusal:
            raise PickleRefused(f"{refusal}, at byte {self._source.position}") from None

    def _run(self) -> Any:  # noqa: ANN401 - data of any shape
        take, steps = self._source.take, self._steps
        for _ in range(self._limits.opcodes):
            opcode = take(1)
            if opcode == STOP:
                return self._end()
            step = steps.get(opcode)
            if step is None:
                raise PickleRefused(_describe(opcode))
            step()
        raise PickleRefused(f"more than {self._limits.opcodes} steps")

    def _end(self) -> Any:  # noqa: ANN401 - data of any shape
        value = self._pop()
        if self._stack or self._marked:
            raise PickleRefused("an end in the middle of something")
        if self._source.left:
            raise PickleRefused(f"{self._source.left} bytes after the end")
        return value

    def _table(self) -> dict[bytes, Callable[[], None]]:
        push = self._push
        return {
            b"\x80": self._protocol,
            b"\x95": self._frame,
            # constants
            b"N": lambda: push(None),
            b"\x88": lambda: push(True),
            b"\x89": lambda: push(False),
            b"]": lambda: push([]),
            b"}": lambda: push({}),
            b")": lambda: push(()),
            # numbers
            b"I": self._integer_line,
            b"L": self._long_line,
            b"F": self._float_line,
            b"K": lambda: push(self._number("<B")),
            b"M": lambda: push(self._number("<H")),
            b"J": lambda: push(self._number("<i")),
            b"G": lambda: push(self._number(">d")),
            b"\x8a": lambda: self._long(self._number("<B")),
            b"\x8b": lambda: self._long(self._number("<i")),
            # texts and bytes
            b"S": lambda: push(self._source.line_piece("quoted")),
            b"V": lambda: push(self._source.line_piece("escaped")),
            b"U": lambda: self._piece("<B", "string"),
            b"T": lambda: self._piece("<i", "string"),
            b"X": lambda: self._piece("<I", "text"),
            b"\x8c": lambda: self._piece("<B", "text"),
            b"\x8d": lambda: self._piece("<Q", "text"),
            b"C": lambda: self._piece("<B", "bytes"),
            b"B": lambda: self._piece("<I", "bytes"),
            b"\x8e": lambda: self._piece("<Q", "bytes"),
            b"\x96": lambda: self._piece("<Q", "bytes"),
            # containers
            b"(": self._mark,
            b"t": lambda: push(tuple(self._since_mark())),
            b"\x85": lambda: self._tuple(1),
            b"\x86": lambda: self._tuple(2),
            b"\x87": lambda: self._tuple(3),
            b"l": lambda: push(self._since_mark()),
            b"d": lambda: self._set_items(self._since_mark(), {}),
            b"a": lambda: self._append([self._pop()]),
            b"e": lambda: self._append(self._since_mark()),
            b"s": self._set_item,
            b"u": lambda: self._set_items(self._since_mark(), self._pop()),
            # what was made before
            b"p": lambda: self._remember(self._index_line()),
            b"q": lambda: self._remember(self._number("<B")),
            b"r": lambda: self._remember(self._number("<I")),
            b"\x94": lambda: self._remember(len(self._memo)),
            b"g": lambda: self._recall(self._index_line()),
            b"h": lambda: self._recall(self._number("<B")),
            b"j": lambda: self._recall(self._number("<I")),
            # names and what they make
            b"c": lambda: push(find_name(self._source.word(), self._source.word())),
            b"\x93": self._name_of_stack,
            b"R": self._reduce,
            b"b": self._build,
        }

    def _push(self, value: object) -> None:
        self._stack.append(value)

    def _pop(self) -> Any:  # noqa: ANN401 - data of any shape
        if not self._stack:
            raise PickleRefused("a step that needs a value where there is none")
        return self._stack.pop()

    def _number(self, form: str) -> Any:  # noqa: ANN401 - an int or a float, as the form says
        return struct.unpack(form, self._source.take(struct.calcsize(form)))[0]

    def _protocol(self) -> None:
        number = self._number("<B")
        if self._source.position != 2 or number > HIGHEST_PROTOCOL:
            raise PickleRefused(f"protocol {number} in the middle, or one that is not known")

    def _frame(self) -> None:
        length = self._number("<Q")
        if length > self._source.left:
            raise PickleRefused(f"a frame of {length} bytes where {self._source.left} are left")

    def _integer_line(self) -> None:
        word = self._source.word()
        self._push({"00": False, "01": True}[word] if word in {"00", "01"} else self._integer(word))

    def _long_line(self) -> None:
        self._push(self._integer(self._source.word().removesuffix("L")))

    def _index_line(self) -> int:
        index = self._integer(self._source.word())
        if not 0 <= index <= LARGEST_KEY:
            raise PickleRefused("a place in memory that is too large")
        return index

    def _integer(self, word: str) -> int:
        try:
            return int(word) if len(word) <= 3 * LARGEST_INTEGER_BYTES else int("too long")
        except ValueError:
            raise PickleRefused(f"{ascii(word)[:40]} where a whole number stands") from None

    def _float_line(self) -> None:
        word = self._source.word()
        try:
            self._push(float(word))
        except ValueError:
            raise PickleRefused(f"{ascii(word)[:40]} where a number stands") from None

    def _long(self, length: int) -> None:
        if not 0 <= length <= LARGEST_INTEGER_BYTES:
            raise PickleRefused(f"a whole number of {length} bytes")
        self._push(int.from_bytes(self._source.take(length), "little", signed=True))

    def _piece(self, length_form: str, form: Form) -> None:
        length = self._number(length_form)
        if length < 0:
            raise PickleRefused("a negative length")
        self._push(self._source.piece(length, form))

    def _mark(self) -> None:
        self._marked.append(self._stack)
        self._stack = []

    def _since_mark(self) -> list[Any]:
        if not self._marked:
            raise PickleRefused("a step that needs a mark where there is none")
        values, self._stack = self._stack, self._marked.pop()
        return values

    def _tuple(self, count: int) -> None:
        values = [self._pop() for _ in range(count)]
        self._push(tuple(reversed(values)))

    def _append(self, values: list[Any]) -> None:
        target = self._last()
        if not isinstance(target, list):
            raise PickleRefused(f"an item for something that is {type(target).__name__}")
        target += values

    def _set_item(self) -> None:
        value, key = self._pop(), self._pop()
        self._set_items([key, value], self._pop())

    def _set_items(self, values: list[Any], target: object) -> None:
        if not isinstance(target, dict) or len(values) % 2:
            raise PickleRefused(f"keys for something that is {type(target).__name__}")
        for key, value in zip(values[::2], values[1::2], strict=True):
            put(target, key, value)
        self._push(target)

    def _last(self) -> Any:  # noqa: ANN401 - data of any shape
        value = self._pop()
        self._push(value)
        return value

    def _remember(self, number: int) -> None:
        self._memo[number] = self._last()

    def _recall(self, number: int) -> None:
        if number not in self._memo:
            raise PickleRefused("something that was made before, where nothing was")
        self._push(self._memo[number])

    def _name_of_stack(self) -> None:
        name, module = self._pop(), self._pop()
        words = [word.text() if isinstance(word, OldString) else word for word in (module, name)]
        if not all(isinstance(word, str) and len(word) <= LONGEST_WORD for word in words):
            raise PickleRefused("a name that is not text")
        self._push(find_name(*words))

    def _reduce(self) -> None:
        arguments, name = self._pop(), self._pop()
        if not isinstance(arguments, tuple):
            raise PickleRefused("a call without arguments")
        self._push(make(name, arguments, self._limits))

    def _build(self) -> None:
        state = self._pop()
        complete(self._last(), state, self._limits)


def _describe(opcode: bytes) -> str:
    name = NAMES.get(opcode.decode("latin-1"))
    return f"the step {name}, which data do not need" if name else f"the byte {opcode!r}, which is no step"
