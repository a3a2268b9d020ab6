# ruff: noqa
# mypy: ignore-errors
from honest import Honest as Model
