"""All numbers of a submission, and of each of its clips."""
