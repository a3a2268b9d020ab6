"""Who built on whom, and what it gained: a measure of usefulness from the credits of submissions."""
