"""Answer the system calls that the sandbox refuses, following the rules, and count them by name.

The kernel forwards them to the process that owns the filter's listener; see seccomp_unotify(2). On kernels without
listeners, nothing is counted.
"""

import contextlib
import errno
import os
import select
import struct
from collections import Counter
from fcntl import ioctl
from threading import Thread

from model_process.sandbox.calls import Rule, refusal
from model_process.sandbox.syscalls import this_machine

RECEIVE, SEND = 0xC0502100, 0xC0182101
ASKED = struct.Struct("=QIIiIQ6Q")
"""id, process, flags; the call's number, architecture and address; its arguments."""
ANSWER = struct.Struct("=QqiI")
"""id, value, negated error, flags."""
MOST = 100_000
"""The most calls of a process that are answered; later ones fail as if the kernel lacked them."""
UNKNOWN, FURTHER = "unknown", "further"
"""Names under which to count calls without a known name, and calls beyond the limit."""


class Refusals:
    """Answers one process's refused calls, in its own thread."""

    def __init__(self, listener: int, rules: dict[str, Rule], counts: Counter[str]) -> None:
        """Start answering. Takes ownership of the listener's file descriptor; adds to `counts`."""
        machine = this_machine()
        self._names = {number: name for name, number in machine.numbers.items()} if machine else {}
        self._listener = listener
        self._rules = rules
        self._counts = counts
        self._waking, self._end = os.pipe()
        self._thread = Thread(target=self._serve, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop answering."""
        os.close(self._end)
        self._thread.join()
        os.close(self._waking)

    def _serve(self) -> None:
        poller = select.poll()
        poller.register(self._listener, select.POLLIN)
        poller.register(self._waking, select.POLLIN)
        for _ in range(MOST):
            # Anything else means that the process has ended, or that we are to stop.
            if poller.poll() != [(self._listener, select.POLLIN)]:
                break
            # The process may have abandoned the call meanwhile.
            with contextlib.suppress(OSError):
                self._answer()
        else:
            self._counts[FURTHER] += 1
        os.close(self._listener)

    def _answer(self) -> None:
        question = bytearray(ASKED.size)
        ioctl(self._listener, RECEIVE, question)
        number_of_question, _, _, number, _, _, *arguments = ASKED.unpack(question)
        name = self._names.get(number, UNKNOWN)
        self._counts[name] += 1
        error = refusal(self._rules.get(name, errno.ENOSYS), arguments) or errno.ENOSYS
        ioctl(self._listener, SEND, ANSWER.pack(number_of_question, 0, -error, 0))
