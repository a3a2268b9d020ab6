"""The tests; their README says which lie where."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The top of the repository."""
