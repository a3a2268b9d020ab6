"""The reference data: labels and other facts about the clips."""
