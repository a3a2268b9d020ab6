"""Rules about the data of a task: settings, clips, labels, and what clips tell without being watched."""
