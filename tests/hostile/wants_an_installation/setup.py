# ruff: noqa
# mypy: ignore-errors
raise SystemExit("I must not run")
