# ruff: noqa
# mypy: ignore-errors
from honest import Honest, must_fail


class Model(Honest):
    def in_predict(self, clip, answer):
        must_fail(lambda: (self.app / "program" / "ingestion.py").read_bytes())
        must_fail(lambda: (self.app / "program" / "seal.key").read_bytes())
        must_fail(lambda: (self.app / "program" / "ingest" / "record" / "seal.py").read_bytes())
        return answer
