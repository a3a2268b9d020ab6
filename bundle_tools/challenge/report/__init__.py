"""Reports made again at home."""
