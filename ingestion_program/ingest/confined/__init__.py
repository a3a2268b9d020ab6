"""The confined process: its sandbox, its limits, and cleaning up after it."""
