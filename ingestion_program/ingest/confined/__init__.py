"""The confined process: what holds a model in, what watches it, and what is left when it has ended."""
