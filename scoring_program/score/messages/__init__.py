"""What people are told, and who may be told what."""
