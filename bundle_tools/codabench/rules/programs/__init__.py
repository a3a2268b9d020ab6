"""Rules about programs, their commands, imports and image."""
