# ruff: noqa
# mypy: ignore-errors
import resource

from honest import Honest, must_fail


class Model(Honest):
    def in_predict(self, clip, answer):
        def higher(name):
            try:
                resource.setrlimit(name, (resource.RLIM_INFINITY,) * 2)
            except ValueError as error:
                raise OSError from error

        for name in (resource.RLIMIT_DATA, resource.RLIMIT_FSIZE, resource.RLIMIT_CPU, resource.RLIMIT_NOFILE):
            must_fail(lambda name=name: higher(name))
        return answer
