# ruff: noqa
# mypy: ignore-errors
def Model(assets):
    return object()
