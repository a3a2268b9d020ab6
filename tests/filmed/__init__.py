"""Exchanges of filmed clips."""
