"""What can go wrong in a run, told apart by who sees it."""


class CannotStart(Exception):
    """A container never ran its program; the worker notices, and goes on or fails as the job demands."""


class RunFailed(Exception):
    """The platform would end the submission with the status Failed; the text says why."""
