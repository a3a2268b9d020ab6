# ruff: noqa
# mypy: ignore-errors
import urllib.request

urllib.request.urlopen("http://192.0.2.1/weights.npz", timeout=5)
