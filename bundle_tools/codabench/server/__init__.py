"""Commands for a challenge on a Codabench server: any server, any bundle.

`client` makes requests, `records` reads and transfers what the server keeps, `rows` says what to do about submissions.
Each other module is a command: `publish`, `rehearse`, `audit`, `replace` with `rerun` and `delete`; `submissions` is
`fetch`. Nothing here depends on the challenge.
"""
