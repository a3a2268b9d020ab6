"""The programs' modules, compiled when this is imported: tests run copies of them that have no compiled files."""

import _imp
import marshal
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

PROGRAMS = ("ingestion_program", "scoring_program")
_ROOT = Path(__file__).resolve().parents[1]
_TEXTS = {path.read_bytes() for program in PROGRAMS for path in (_ROOT / program).rglob("*.py")}
_COMPILED = {text: marshal.dumps(compile(text, "", "exec", dont_inherit=True)) for text in _TEXTS}
_compile = SourceFileLoader.source_to_code


def _source_to_code(self: SourceFileLoader, data: Any, path: Any, **options: Any) -> CodeType:  # noqa: ANN401
    known = _COMPILED.get(bytes(data))
    if known is None:
        return _compile(self, data, path, **options)
    code: CodeType = marshal.loads(known)  # noqa: S302 - our own
    _imp._fix_co_filename(code, path)  # type: ignore[attr-defined]  # what importlib does with code that has moved
    return code


def use() -> None:
    """Let this process import from what is compiled, wherever a file of the same text lies."""
    SourceFileLoader.source_to_code = _source_to_code  # type: ignore[assignment,method-assign]
