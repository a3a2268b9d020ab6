"""Ways to have a model asked: by one process, or by several side by side."""
