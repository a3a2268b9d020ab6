"""The reference data: labels, and what else an organiser knows about the clips."""
