# ruff: noqa
# mypy: ignore-errors
from honest import Honest


class Model(Honest):
    def in_explain(self, clip, answer):
        return {**answer, "evidence": {"cues": [{"cue": "aura", "target": "interview", "contribution": 0.5}]}}
