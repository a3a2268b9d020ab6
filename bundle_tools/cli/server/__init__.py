"""`bundle server`: the life of a challenge on a Codabench server."""
