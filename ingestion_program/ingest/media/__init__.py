"""Frames and sound of a clip: decoded, altered if needed, and served to a model."""
