"""Altered copies: everything that changes pixels and sound."""
