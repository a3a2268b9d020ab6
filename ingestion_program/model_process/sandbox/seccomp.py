"""A seccomp filter: system calls that no model needs fail once it is installed.

The filter is a classic BPF program built here, so the image needs no library for it. See seccomp(2) and the kernel's
documentation, userspace-api/seccomp_filter.
"""

import ctypes
import errno
import struct
from collections.abc import Sequence

from model_process.sandbox import kernel
from model_process.sandbox.calls import ALL_BITS, PRETENCE, QUIET, Check, Rule
from model_process.sandbox.syscalls import Machine, this_machine

# BPF instructions: load a 32-bit word, mask it, jump always / if equal / if greater or equal, return.
LOAD, AND, JUMP, JUMP_EQUAL, JUMP_AT_LEAST, RETURN = 0x20, 0x54, 0x05, 0x15, 0x35, 0x06
FARTHEST = 255
"""The most instructions that a conditional jump can skip."""
ALLOW, FAIL_WITH = 0x7FFF0000, 0x00050000
PASSING_ON = ("sendmsg", "seccomp")
"""Calls needed to hand over the listener, and then to forbid these calls."""
# Offsets in struct seccomp_data; of each 64-bit argument, only the lower half is checked.
NUMBER_AT, ARCHITECTURE_AT, ARGUMENTS_AT = 0, 4, 16
SET_MODE_FILTER, MODE_FILTER, ALL_THREADS, WITH_LISTENER = 1, 2, 1, 8
ASK = 0x7FC00000
"""Let the listener's owner choose the error; without an owner, the call fails with ENOSYS."""

Instruction = tuple[int, int, int, int]
"""Code, offset if true, offset if false, operand."""
Body = tuple[Instruction, ...]
"""Instructions that always end in a return."""


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))

    def __init__(self, steps: Sequence[Instruction]) -> None:
        code = b"".join(struct.pack("=HBBI", *step) for step in steps)
        # Keeps the code alive as long as this object.
        self.code = ctypes.create_string_buffer(code, len(code))
        super().__init__(len(steps), ctypes.addressof(self.code))


def restrict(rules: dict[str, Rule]) -> bool:
    """Install the filter for all threads; return whether that worked."""
    machine = this_machine()
    if machine is None:
        return False
    steps = program(machine, rules)
    try:
        _install(machine, steps, ALL_THREADS)
    except OSError:
        try:
            kernel.prctl(kernel.PR_SET_SECCOMP, MODE_FILTER, ctypes.byref(_Program(steps)))
        except OSError:
            return False
    return True


def listen(rules: dict[str, Rule]) -> int | None:
    """Install the filter for this thread and those it starts, with a listener for refused calls.

    Returns the listener's file descriptor, which can be passed on until `stop_passing_on`; None if the kernel has no
    listeners, in which case nothing was installed.
    """
    machine = this_machine()
    if machine is None:
        return None
    try:
        return _install(
            machine, program(machine, {**rules, **dict.fromkeys(PASSING_ON, ())}, notify=True), WITH_LISTENER
        )
    except OSError:
        return None


def stop_passing_on(rules: dict[str, Rule]) -> None:
    """Forbid the calls that `listen` allowed only for passing on the listener.

    Raises OSError with the kernel's reason.
    """
    machine = this_machine()
    if machine is not None:
        numbers = [machine.numbers[name] for name in PASSING_ON if name not in rules]
        steps = [step for number in numbers for step in ((JUMP_EQUAL, 0, 1, number), _fail(errno.ENOSYS))]
        _install(machine, [(LOAD, 0, 0, NUMBER_AT), *steps, (RETURN, 0, 0, ALLOW)], ALL_THREADS)


def _install(machine: Machine, steps: Sequence[Instruction], flags: int) -> int:
    mode, filter_ = ctypes.c_uint(SET_MODE_FILTER), _Program(steps)
    return kernel.syscall(machine.numbers["seccomp"], mode, ctypes.c_uint(flags), ctypes.byref(filter_))


def program(machine: Machine, rules: dict[str, Rule], *, notify: bool = False) -> list[Instruction]:
    """Build the filter: a binary search for the call's number. Calls without a rule fail with ENOSYS.

    `notify`: whether a listener is notified of refused calls.
    """
    foreign: Body = (_fail(errno.ENOSYS),)
    unknown: Body = (_fail(errno.ENOSYS, notify=notify),)
    bodies = {
        machine.numbers[name]: _body(rule, notify=notify and name not in QUIET)
        for name, rule in rules.items()
        if name in machine.numbers
    }
    # The first number to which each body applies. Beyond the last one lie x86-64's alternative numbers (x32).
    starts: list[tuple[int, Body]] = []
    for number in range(max(bodies) + 2):
        body = bodies.get(number, unknown)
        if not starts or body != starts[-1][1]:
            starts.append((number, body))
    return [
        (LOAD, 0, 0, ARCHITECTURE_AT),
        (JUMP_EQUAL, 1, 0, machine.architecture),
        *foreign,
        (LOAD, 0, 0, NUMBER_AT),
        *_search(starts),
    ]


def _search(starts: list[tuple[int, Body]]) -> Body:
    if len(starts) == 1:
        return starts[0][1]
    middle = len(starts) // 2
    below, above = _search(starts[:middle]), _search(starts[middle:])
    first = starts[middle][0]
    if len(below) <= FARTHEST:
        return ((JUMP_AT_LEAST, len(below), 0, first), *below, *above)
    return ((JUMP_AT_LEAST, 0, 1, first), (JUMP, 0, 0, len(below)), *below, *above)


def _body(rule: Rule, *, notify: bool) -> Body:
    if isinstance(rule, int):
        # A pretended call does not count as refused.
        return (_fail(rule, notify=notify and rule != PRETENCE),)
    return (*(step for check in rule for step in _check(check, notify=notify)), (RETURN, 0, 0, ALLOW))


def _check(check: Check, *, notify: bool) -> Body:
    """Return instructions that fail the call, or continue after the last of them if it passes."""
    count = len(check.values)
    if check.among:
        tests = [(JUMP_EQUAL, count - number, 0, value) for number, value in enumerate(check.values)]
    else:
        tests = [(JUMP_EQUAL, count - number - 1, 0, value) for number, value in enumerate(check.values)]
        tests[-1] = (JUMP_EQUAL, 0, 1, check.values[-1])
    bits = () if check.mask == ALL_BITS else ((AND, 0, 0, check.mask),)
    notify = notify and check.error != PRETENCE
    return ((LOAD, 0, 0, ARGUMENTS_AT + 8 * check.argument), *bits, *tests, _fail(check.error, notify=notify))


def _fail(code: int, *, notify: bool = False) -> Instruction:
    return (RETURN, 0, 0, ASK if notify else FAIL_WITH | code)
