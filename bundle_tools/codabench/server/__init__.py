"""Commands for a challenge on a Codabench server: any server, any bundle.

`client` makes requests, `records` reads and transfers what the server keeps. Each other module is a command: `publish`,
`rehearse`, `audit`, `replace`; `submissions` is `fetch` and `board`. Nothing here depends on the challenge.
"""
