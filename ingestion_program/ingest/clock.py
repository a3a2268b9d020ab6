"""The run's clock. Its budget ends well before the platform's limit, because a job that is cut off loses everything."""

import time

SHARE = 0.85
RESERVE_S = 60.0


class Clock:
    """Counts from the start of the run."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self.budget_s = 0.0
        """Seconds after which no further clip is started."""

    def set_limit(self, time_limit_s: float) -> None:
        """Derive the budget from the platform's limit.

        The budget is 85 % of the limit, or a minute less than the limit if that is shorter, but at least half.
        """
        self.budget_s = max(0.5 * time_limit_s, min(SHARE * time_limit_s, time_limit_s - RESERVE_S))

    def elapsed_s(self) -> float:
        """Return the seconds since the start."""
        return time.monotonic() - self._start

    def left_s(self) -> float:
        """Return the seconds of the budget that are left; negative when it is used up."""
        return self.budget_s - self.elapsed_s()


def minutes(seconds: float) -> str:
    """Return seconds as m:ss."""
    whole = max(0, round(seconds))
    return f"{whole // 60}:{whole % 60:02d}"
