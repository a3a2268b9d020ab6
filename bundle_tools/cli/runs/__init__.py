"""Commands about submissions and their runs."""
