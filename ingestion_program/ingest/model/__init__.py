"""Asking a model, and checking what it answers."""
