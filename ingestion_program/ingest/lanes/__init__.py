"""Query a model in one process, or in several running side by side."""
