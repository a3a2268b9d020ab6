"""The limits around ingestion: the least of those in sight, for either version of control groups."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ingest.confine import limits, memory_kills
from tests.ingestion.conftest import PROGRAM

V2 = "0::/challenge.slice/docker-ab.scope\n"
V1 = "4:memory:/docker/ab\n3:cpu,pids:/docker/ab\n1:name=systemd:/x:y\n0::/\n"
MB = 2**20
SCOPE = "challenge.slice/docker-ab.scope"


def machine(folder: Path, cgroup: str, files: dict[str, int | str], swap_kb: int = 0) -> tuple[Path, Path]:
    """Write what a kernel shows of a process: its folders for /proc and the control groups."""
    proc, groups = folder / "proc", folder / "cgroup"
    (proc / "self").mkdir(parents=True)
    (proc / "self" / "cgroup").write_text(cgroup)
    (proc / "meminfo").write_text(f"MemTotal: 99 kB\nSwapTotal:   {swap_kb} kB\n")
    for name, content in files.items():
        (groups / name).parent.mkdir(parents=True, exist_ok=True)
        (groups / name).write_text(f"{content}\n")
    return proc, groups


@pytest.mark.parametrize(
    ("cgroup", "files", "swap_mb", "expected"),
    [
        (V2, {}, 0, (None, None)),
        (V2, {f"{SCOPE}/memory.max": "max", f"{SCOPE}/pids.max": "max"}, 9, (None, None)),
        (V2, {f"{SCOPE}/memory.max": "max", "challenge.slice/memory.max": 12 * MB}, 0, (12, None)),
        (V2, {f"{SCOPE}/memory.max": 8 * MB, "challenge.slice/memory.max": 12 * MB}, 0, (8, None)),
        (V2, {f"{SCOPE}/memory.max": 14 * MB, "challenge.slice/memory.max": 12 * MB}, 0, (12, None)),
        (V2, {f"{SCOPE}/pids.max": 900, "challenge.slice/pids.max": 512}, 0, (None, 512)),
        (V2, {"other.slice/memory.max": 5 * MB, "other.slice/pids.max": 5}, 0, (None, None)),
        # Swap counts as far as the machine has it and the group may use it.
        (V2, {f"{SCOPE}/memory.max": 8 * MB}, 4, (12, None)),
        (V2, {f"{SCOPE}/memory.max": 8 * MB, f"{SCOPE}/memory.swap.max": "max"}, 4, (12, None)),
        (V2, {f"{SCOPE}/memory.max": 8 * MB, "challenge.slice/memory.swap.max": 0}, 4, (8, None)),
        # A container's own group is all that there is to see inside.
        ("0::/\n", {"memory.max": 6 * MB, "pids.max": 77}, 0, (6, 77)),
        (V1, {"memory/docker/ab/memory.limit_in_bytes": 9223372036854771712, "pids/pids.max": "max"}, 0, (None, None)),
        (V1, {"memory/docker/memory.limit_in_bytes": 6 * MB, "pids/docker/ab/pids.max": 50}, 0, (6, 50)),
        (V1, {"memory/memory.limit_in_bytes": 6 * MB, "memory/memory.memsw.limit_in_bytes": 7 * MB}, 9, (7, None)),
        # Each hierarchy of version 1 has groups of its own.
        ("4:memory:/a\n3:pids:/b\n", {"memory/b/memory.limit_in_bytes": 5 * MB}, 0, (None, None)),
        ("", {"memory.max": 6 * MB}, 0, (None, None)),
    ],
)
def test_the_least_limit_of_all_groups_around_holds(
    tmp_path: Path, cgroup: str, files: dict[str, int | str], swap_mb: int, expected: tuple[int | None, int | None]
) -> None:
    found = limits(*machine(tmp_path, cgroup, files, swap_mb * 1024))
    assert (found["memory_mb"], found["processes"]) == expected


@pytest.mark.parametrize(
    ("cgroup", "files", "expected"),
    [
        (V2, {}, None),
        (V2, {f"{SCOPE}/cpu.max": "max 100000"}, None),
        (V2, {f"{SCOPE}/cpu.max": "200000 100000"}, 2),
        (V2, {f"{SCOPE}/cpu.max": "150000 100000", "challenge.slice/cpu.max": "400000 100000"}, 2),
        (V2, {f"{SCOPE}/cpu.max": "400000 100000", "challenge.slice/cpu.max": "50000 100000"}, 1),
        ("0::/\n", {"cpu.max": "300000 100000"}, 3),
        (V1, {"cpu/docker/ab/cpu.cfs_quota_us": -1, "cpu/docker/ab/cpu.cfs_period_us": 100000}, None),
        (V1, {"cpu/docker/cpu.cfs_quota_us": 250000, "cpu/docker/cpu.cfs_period_us": 100000}, 3),
    ],
)
def test_a_quota_of_processor_time_counts_as_so_many_cores(
    tmp_path: Path, cgroup: str, files: dict[str, int | str], expected: int | None
) -> None:
    assert limits(*machine(tmp_path, cgroup, files, 0))["cores"] == expected


@pytest.mark.parametrize(
    ("cgroup", "files", "expected"),
    [
        (V2, {}, 0),
        (V2, {f"{SCOPE}/memory.events": "low 0\noom 4\noom_kill 3\noom_group_kill 0"}, 3),
        (V2, {f"{SCOPE}/memory.events": "oom_kill 1", "challenge.slice/memory.events": "oom_kill 2"}, 2),
        (V1, {"memory/docker/ab/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 5"}, 5),
    ],
)
def test_kills_for_lack_of_memory_are_counted(
    tmp_path: Path, cgroup: str, files: dict[str, int | str], expected: int
) -> None:
    assert memory_kills(*machine(tmp_path, cgroup, files)) == expected


def test_a_machine_without_proc_has_no_limit_in_sight(tmp_path: Path) -> None:
    assert limits(tmp_path, tmp_path) == {"memory_mb": None, "processes": None, "cores": None}


def seen_by(*start: str) -> dict[str, object]:
    source = "import json; from ingest.confine import container; print(json.dumps(container()))"
    done = subprocess.run(
        [*start, sys.executable, "-c", source], cwd=PROGRAM, capture_output=True, text=True, check=False
    )
    if done.returncode != 0 and start:
        pytest.skip(f"NO NETWORK NOT TESTED: {done.stderr.strip()}")
    return dict(json.loads(done.stdout))


def test_a_network_namespace_of_its_own_leads_nowhere() -> None:
    assert seen_by("unshare", "--net")["network"] is False
    # `ip` would say the same: a route that is not the loop's.
    routes = Path("/proc/net/route").read_text().splitlines()[1:]
    assert not routes or seen_by()["network"] is True


def test_sizes_are_those_of_the_file_systems() -> None:
    system = os.statvfs("/dev/shm")  # noqa: S108 - it is what is asked about
    assert seen_by()["shared_memory_mb"] == system.f_blocks * system.f_frsize // MB
