"""Which limits of a machine are missing, and when nothing can be said."""

from pathlib import Path

import pytest

from bundle_tools.emulator import second_line
from bundle_tools.emulator.second_line import from_outside, missing

GOOD = {"memory_mb": 12288, "processes": 512, "shared_memory_mb": 64, "network": False, "own_disk": True}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({}, None),
        ({"memory_mb": None}, "MemoryMax"),
        ({"processes": None}, "TasksMax"),
        ({"own_disk": False}, "own disk"),
        ({"network": True}, "COMPETITION_CONTAINER_NETWORK_DISABLED=True"),
        ({"network": None}, None),
        ({"shared_memory_mb": 24105}, "default-shm-size"),
        ({"shared_memory_mb": None}, None),
    ],
)
def test_each_missing_limit_is_one_line(change: dict[str, object], told: str | None) -> None:
    lines = missing({**GOOD, **change})
    assert len(lines) == (told is not None)
    assert told is None or told in lines[0]


def test_nothing_is_said_of_what_was_not_looked_for() -> None:
    assert missing({}) == []


OVERLAY = "188 97 0:63 / / rw - overlay overlay rw,upperdir=/x\n"


def from_machine(folder: Path, *, mounts: str, limit: str = "max", container: str = "ab") -> dict[str, object]:
    for name in ("proc/7/root", "sys/fs/cgroup/s/docker-ab.scope"):
        (folder / name).mkdir(parents=True)
    (folder / "proc/7/cgroup").write_text("0::/s/docker-ab.scope\n")
    (folder / "proc/7/mountinfo").write_text(mounts)
    (folder / "sys/fs/cgroup/s/memory.max").write_text(limit)
    return from_outside("7", container, folder / "proc", folder)


def test_a_slice_is_seen_from_outside(tmp_path: Path) -> None:
    assert from_machine(tmp_path, mounts="", limit=str(2**30)) == {"memory_mb": 1024, "processes": None}


def test_of_a_container_elsewhere_nothing_is_known(tmp_path: Path) -> None:
    # An engine on another machine names a process that here is another one, or none.
    assert from_machine(tmp_path, mounts=OVERLAY, container="cd") == {}
    assert from_outside("8", "ab", tmp_path / "proc", tmp_path) == {}


@pytest.mark.parametrize("root_mb", [100, 10])
def test_a_disk_or_a_quota_shows_as_another_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, root_mb: int) -> None:
    monkeypatch.setattr(second_line, "_size", lambda place: root_mb if place.name == "root" else 100)
    monkeypatch.setattr(second_line, "HOST_DIRECTORY", tmp_path / "none")
    assert from_machine(tmp_path, mounts=OVERLAY)["own_disk"] is (root_mb != 100)
    monkeypatch.setattr(second_line, "HOST_DIRECTORY", tmp_path)
    assert from_outside("7", "ab", tmp_path / "proc", tmp_path)["own_disk"] is False
