# ruff: noqa
# mypy: ignore-errors
from honest import Honest, must_fail


class Model(Honest):
    def in_predict(self, clip, answer):
        must_fail(lambda: (self.assets / "new.txt").write_text("x"))
        must_fail(lambda: (self.assets / "model.py").unlink())
        must_fail(lambda: (self.assets / "model.py").rename(self.assets / "other.py"))
        return answer
