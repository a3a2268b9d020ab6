"""Parse sentences into words, phrases and clauses."""
