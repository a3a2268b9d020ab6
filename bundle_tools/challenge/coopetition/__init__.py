"""Who built on whom: a measure of usefulness from the credits of submissions."""
