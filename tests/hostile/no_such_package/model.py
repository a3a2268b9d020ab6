# ruff: noqa
# mypy: ignore-errors
import no_such_package
