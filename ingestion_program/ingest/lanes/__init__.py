"""Ways to have a model asked: by one process, by several side by side, or by what was answered before."""
