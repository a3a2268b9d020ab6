"""What a participant has handed in."""
