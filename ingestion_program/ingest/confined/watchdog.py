"""The last resort: if the run hangs, save what is complete before the platform ends the job."""

import os
import sys
import traceback
from collections.abc import Callable
from threading import Event, Lock, Thread

RESERVE_S = 10.0
SHARE = 0.95
TEMPORARY_FAILURE = 75
"""Exit code EX_TEMPFAIL: another attempt may succeed."""


class Watchdog:
    """Waits in its own thread; unless disarmed before time is up, it saves the run and ends the program."""

    def __init__(self, flush_partial_run: Callable[[], bool]) -> None:
        """Take the function that saves the run and returns whether every clip had its turn."""
        self._rescue = flush_partial_run
        self._stood_down = Event()
        # Whoever holds it writes the end of the run; it is never released.
        self._turn = Lock()

    def start(self, limit_s: float, elapsed_s: float) -> None:
        """Start waiting, `elapsed_s` seconds into the platform's limit; the last 10 s, or 5 % if less, are reserved."""
        wait_s = max(limit_s - RESERVE_S, SHARE * limit_s) - elapsed_s
        Thread(target=self._watch, args=(max(0.0, wait_s),), daemon=True).start()

    def disarm(self) -> None:
        """Stop the watchdog at the end of a run; does not return if the rescue has already begun."""
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
