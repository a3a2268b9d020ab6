"""Ask a model, and check its answers."""
