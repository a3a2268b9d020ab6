from honest import Honest as Model  # noqa: F401
