# ruff: noqa
# mypy: ignore-errors
class Counter:
    def count(self, weights):
        return round(sum(weights) / 10)
