"""The calls that the sandbox refuses: answered as the rules say, and counted by name.

The kernel asks the process that has the filter's listener, see seccomp_unotify(2). Where it has no listeners
nothing is counted.
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
"""id, process, flags; number, architecture and place of the call; its arguments."""
ANSWER = struct.Struct("=QqiI")
"""id, value, minus the error, flags."""
MOST = 100_000
"""Calls of a process that are answered; after that they all fail as if the kernel did not have them."""
UNKNOWN, FURTHER = "unknown", "further"
"""Stand for calls without a name here, and for what was not counted any more."""


class Refusals:
    """Answers for one process, in a thread of its own."""

    def __init__(self, listener: int, rules: dict[str, Rule], counts: Counter[str]) -> None:
        """Take the listener's file descriptor and close it in the end; `counts` grows."""
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
            # Anything else is the end: of whoever asks, or of this.
            if poller.poll() != [(self._listener, select.POLLIN)]:
                break
            # A call may have been given up meanwhile.
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
