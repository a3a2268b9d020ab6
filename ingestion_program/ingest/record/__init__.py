"""What a run leaves behind: answers, problems, statistics, the manifest and its seal."""
