"""What a participant has submitted."""
