"""What an organiser lays down: lists of clips, their copies, exchanges and faces, checked as a whole."""
