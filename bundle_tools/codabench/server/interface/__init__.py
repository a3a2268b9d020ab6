"""Requests to a Codabench server, and its answers.

`http` makes requests, `calls` knows which ones there are, `records` holds what comes back, `upload` brings files there,
`download` brings them here, `token` says who asks.
"""
