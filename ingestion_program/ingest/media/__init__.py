"""Frames and sound of a clip: decoded, altered where that is asked for, and served to a model."""
