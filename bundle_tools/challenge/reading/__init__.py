"""What a bundle of this challenge holds: tables, videos, secrets, and settings as its programs read them."""
