"""The tiny bundle, and a clock that stands still; programs and clips that are asked once."""

from tests.tiny import asked_in_a_fork, decoded_once, pinned_clock, tiny  # noqa: F401 - fixtures
