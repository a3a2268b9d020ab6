# ruff: noqa
# mypy: ignore-errors
import socket

from honest import Honest, must_fail


class Model(Honest):
    def in_predict(self, clip, answer):
        def serve():
            with socket.socket(socket.AF_UNIX) as line:
                line.bind("\0hostile")
                line.listen()

        must_fail(serve)
        return answer
