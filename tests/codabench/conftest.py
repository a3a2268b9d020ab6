"""The tiny bundle, and a clock that stands still."""

from tests.tiny import asked_in_a_fork, pinned_clock, tiny  # noqa: F401 - fixtures
