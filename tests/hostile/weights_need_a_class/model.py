# ruff: noqa
# mypy: ignore-errors
import pickle

from honest import Honest


class Model(Honest):
    def in_load(self):
        pickle.loads(b"c__main__\nVanished\n.")
