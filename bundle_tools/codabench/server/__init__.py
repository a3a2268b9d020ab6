"""Commands for a challenge on a Codabench server: any server, any bundle.

`interface/` speaks with the server. Each other module is one command: `publish` (`arrived` checks its result),
`rehearse`, `audit`, `fetch`, `replace`, `board`. Nothing here depends on the challenge.
"""
