"""A Codabench worker at home: the same zips, mounts, commands and rules, without a server.

Source of the rules: Codabench v1.25 (compute worker and server), from its source and behaviour.
"""


class CannotStart(Exception):
    """A container could not run its program; depending on the job, the worker continues or fails."""


class RunFailed(Exception):
    """The platform would end the submission with the status Failed; the message says why."""
