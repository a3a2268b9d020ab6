"""The record of a run: answers, problems, statistics, the manifest and its seal."""
