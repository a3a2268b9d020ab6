# ruff: noqa
# mypy: ignore-errors
from honest import Honest


class Model(Honest):
    def in_explain(self, clip, answer):
        return {**answer, "text": "<script>fetch('https://example.org')</script><img src=x onerror=alert(1)>"}
