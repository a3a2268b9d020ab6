"""The reference data: labels, and other knowledge about the clips."""
