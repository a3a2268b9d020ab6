# ruff: noqa
# mypy: ignore-errors
from honest import Honest, must_fail


class Model(Honest):
    def in_predict(self, clip, answer):
        output = self.app / "output"
        must_fail(lambda: (output / "predictions.csv").write_text("planted"))
        must_fail(lambda: (output / "scores.json").write_text("planted"))
        must_fail(lambda: (output / "predictions.csv").unlink())
        must_fail(lambda: output.rename(self.app / "gone"))
        return answer
