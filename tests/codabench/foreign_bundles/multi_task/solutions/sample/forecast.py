# ruff: noqa
# mypy: ignore-errors
def rain_tomorrow(measures):
    return measures["rain_today"]
