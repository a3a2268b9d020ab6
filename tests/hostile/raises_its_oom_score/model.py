# ruff: noqa
# mypy: ignore-errors
from pathlib import Path

from honest import Honest, must_fail


class Model(Honest):
    def in_predict(self, clip, answer):
        must_fail(lambda: Path("/proc/self/oom_score_adj").write_text("-1000"))
        must_fail(lambda: Path("/proc/self/oom_score_adj").write_text("0"))
        return answer
