"""A file is there as a whole or not at all."""

from pathlib import Path

import pytest

from bundle_tools.atomic import replaced


def test_a_file_is_replaced_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with replaced(path) as unfinished:
        unfinished.write_text("whole")
    with pytest.raises(KeyboardInterrupt), replaced(path) as unfinished:
        unfinished.write_text("ha")
        raise KeyboardInterrupt
    assert path.read_text() == "whole"
    assert list(tmp_path.iterdir()) == [path]
