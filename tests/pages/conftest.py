"""Programs that are asked once."""

from tests.tiny import asked_in_a_fork  # noqa: F401 - a fixture
