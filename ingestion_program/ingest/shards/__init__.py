"""One run cut into shards, each asked in a process of its own, and merged into the record of a single run."""

STAGES = ("first", "again", "second", "repeats")
"""The passes of a run in the order in which `Runner` asks for them."""
