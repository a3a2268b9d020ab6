"""Requests to a Codabench server, and its answers.

`http` makes requests, `calls` defines them, `records` holds the answers, `upload` and `download` transfer files, and
`token` identifies the account.
"""
