"""Rules about the data of a task: settings, clips, labels, and shortcuts that predict labels."""
