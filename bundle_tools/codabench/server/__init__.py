"""Commands for a challenge on a Codabench server: any server, any bundle.

`interface/` speaks with the server. Each other module is one command: `publish` (with `arrived`, what came of it),
`rehearse`, `audit`, `fetch`, `replace`, `board`. Nothing here knows what a challenge is about.
"""
