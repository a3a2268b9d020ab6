"""Sentences taken apart: words, phrases, clauses, and what each is about."""
