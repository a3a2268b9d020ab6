"""Metrics as functions of sums over clips, and their intervals."""
