# ruff: noqa
# mypy: ignore-errors
while True:
    print("x" * 100_000)
