"""The last resort: if the run hangs, seal what is complete before the platform ends the job."""

import os
import sys
import traceback
from collections.abc import Callable
from threading import Event, Lock, Thread

RESERVE_S = 10.0
SHARE = 0.95
TEMPORARY_FAILURE = 75
"""Exit code: it may go well the next time."""


class Watchdog:
    """Waits in a thread of its own; when time is up and nobody has stood it down, it rescues and ends the program."""

    def __init__(self, flush_partial_run: Callable[[], bool]) -> None:
        """Take what seals the run; it returns whether every clip had its turn."""
        self._rescue = flush_partial_run
        self._stood_down = Event()
        # Whoever has it writes the end of the run; it is never given back.
        self._turn = Lock()

    def start(self, limit_s: float, elapsed_s: float) -> None:
        """Begin to wait, `elapsed_s` seconds into the platform's limit; 10 s are left for the rescue, 5 % if less."""
        wait_s = max(limit_s - RESERVE_S, SHARE * limit_s) - elapsed_s
        Thread(target=self._watch, args=(max(0.0, wait_s),), daemon=True).start()

    def disarm(self) -> None:
        """Say that the run has come to its end; does not return where the rescue has begun already."""
        self._turn.acquire()
        self._stood_down.set()

    def _watch(self, wait_s: float) -> None:
        if self._stood_down.wait(wait_s) or not self._turn.acquire(blocking=False):
            return
        code = TEMPORARY_FAILURE
        try:
            if self._rescue():
                code = 0
        except BaseException as error:  # noqa: BLE001 - the program ends here, whatever happens
            traceback.print_tb(error.__traceback__)
        finally:
            sys.stdout.flush()
            os._exit(code)
