"""What scripts of the programs would each compile again: modules, when this is imported, and Jinja's templates, once.

Tests run copies of the programs, which have no compiled files beside them.
"""

import _imp
import marshal
import sys
from functools import partialmethod
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

PROGRAMS = ("ingestion_program", "scoring_program")
_ROOT = Path(__file__).resolve().parents[1]
_FILES = [path for program in PROGRAMS for path in (_ROOT / program).rglob("*.py")]
# Taken from `__pycache__`, where it is not out of date.
_COMPILED = {path.read_bytes(): marshal.dumps(SourceFileLoader("", str(path)).get_code("")) for path in _FILES}
_compile = SourceFileLoader.source_to_code


def use(templates: str) -> None:
    """Let this process take what is compiled, wherever a file of the same text lies; `templates` keeps Jinja's."""
    SourceFileLoader.source_to_code = _source_to_code  # type: ignore[assignment,method-assign]
    if "jinja2" in sys.modules:  # installed here
        from jinja2 import Environment, FileSystemBytecodeCache  # noqa: PLC0415

        class AnyFolder(FileSystemBytecodeCache):
            def get_cache_key(self, name: str, filename: str | None = None) -> str:
                return super().get_cache_key(name)

        start = partialmethod(Environment.__init__, bytecode_cache=AnyFolder(templates))
        Environment.__init__ = start  # type: ignore[assignment,method-assign]


def _source_to_code(self: SourceFileLoader, data: Any, path: Any, **options: Any) -> CodeType:  # noqa: ANN401
    known = _COMPILED.get(bytes(data))
    if known is None:
        return _compile(self, data, path, **options)
    code: CodeType = marshal.loads(known)  # noqa: S302 - our own
    _imp._fix_co_filename(code, path)  # type: ignore[attr-defined]  # what importlib does with code that has moved
    return code
