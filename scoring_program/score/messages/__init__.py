"""Messages for people, and who may see which."""
