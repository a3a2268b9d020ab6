"""Messages for people, and who may see them."""
