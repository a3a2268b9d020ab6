"""A jury of 15 clips and 6 teams: time and memory to make it, the size of a sheet, and how soon a juror can begin.

Clips are like those of the field: 15 s, 1280 x 720, so that each is made anew for the sheet. The first item is usable
when *Begin* was pressed and the first video can play. For comparison, a page of the same size contains only bytes.
"""

import argparse
import contextlib
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks import workload
from tests.challenge.jury.finalists import PHASE, make_bundle, make_run
from tests.scoring.factory import Case, full_explanation, make_case

CLIPS, TEAMS, PERSONS, ROUNDS = 15, 6, 18, 3
MAKE_LIMIT, MB_LIMIT, SHEET_LIMIT, READY_LIMIT, RATIO_LIMIT = 90.0, 600.0, 25.0, 2.0, 2.0
CHILD = """\
import resource, sys, time
sys.path.insert(0, sys.argv[1])
from bundle_tools.cli.main import main
started, worked = time.perf_counter(), time.process_time()
code = main(["jury", "make", *sys.argv[2:]])
# Linux counts kilobytes, macOS bytes.
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
print("\\nmeasured", time.process_time() - worked, time.perf_counter() - started, peak)
sys.exit(code)
"""
BEGIN = """\
addEventListener("DOMContentLoaded", () => {
  const begin = document.getElementById("begin");
  if (!begin) { window.ready = performance.now(); return; }
  document.getElementById("video").addEventListener("canplay", () => { window.ready ??= performance.now(); });
  begin.click();
});
"""
WAIT = """\
() => new Promise((done) => {
  const look = () => (window.ready === undefined ? setTimeout(look, 5) : done(window.ready));
  look();
})
"""


def case_of(team: int) -> Case:
    """Create a team with its own predictions and texts; each clip shows another person."""
    case = make_case(clips=PERSONS, sources=[f"person-{number}" for number in range(PERSONS)], task=PHASE)
    case.prediction = np.clip(case.prediction + 0.01 * team, 0, 1)

    def explain(clip_id: str) -> dict[str, object]:
        said = full_explanation(clip_id)
        return said | {"text": f"{said['text']} So much for team {'abcdef'[team]}."}

    case.explain = explain
    return case


def make(folder: Path) -> tuple[Path, float, float, float]:
    """Make the jury in a process of its own; returns its folder, processor seconds, seconds and megabytes."""
    bundle = make_bundle(folder / "bundle", case_of(0), workload.make_clips())
    runs = [str(make_run(folder / f"team-{team}", bundle, f"team-{team}", case_of(team))) for team in range(TEAMS)]
    words = [*runs, "--bundle", str(bundle), "--out", str(folder / "jury"), "--jurors", "1", "--clips", str(CLIPS)]
    command = [sys.executable, "-c", CHILD, str(workload.ROOT), *words, "--seed", "benchmark"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=workload.ROOT)
    worked, seconds, peak = map(float, done.stdout.split("measured")[1].split())
    return folder / "jury", worked, seconds, peak


def ready(pages: dict[str, Path]) -> dict[str, list[float]] | None:
    """Return for each page the seconds until it is usable, in turns; None without Chromium."""
    with contextlib.suppress(ImportError):
        from playwright.sync_api import Error, sync_playwright  # noqa: PLC0415 - optional

        def measure(page: Path) -> float:
            tab = browser.new_page(viewport={"width": 1366, "height": 768})
            tab.add_init_script(BEGIN)
            tab.goto(page.as_uri())
            seconds = float(tab.evaluate(WAIT)) / 1000
            tab.close()
            return seconds

        with sync_playwright() as engine, contextlib.suppress(Error):
            browser = engine.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
            cases = {name: lambda page=page: measure(page) for name, page in pages.items()}
            times = workload.interleave(cases, ROUNDS)
            browser.close()
            return times
    return None


def main() -> int:
    """Measure and print; the exit code tells whether the limits hold."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder, worked, seconds, peak = make(Path(temporary))
        print(f"{CLIPS} clips of 15 s, {TEAMS} teams: made in {seconds:.0f} s")
        holds = workload.verdict("making the jury, s of one processor", worked, MAKE_LIMIT)
        holds &= workload.verdict("memory, MB", peak, MB_LIMIT)
        sheet = folder / "sheet-1.html"
        holds &= workload.verdict("a sheet, MB", sheet.stat().st_size / 1e6, SHEET_LIMIT)
        plain = Path(temporary) / "plain.html"
        plain.write_text(f"<!doctype html><script type='text/plain'>{'A' * sheet.stat().st_size}</script>", "utf-8")
        times = ready({"sheet": sheet, "bytes alone": plain})
        if times is None:
            print("no Chromium: when a juror can begin was not measured")
        else:
            holds &= workload.verdict("the first item usable, s", statistics.median(times["sheet"]), READY_LIMIT)
            ratio = workload.median_ratio(times["sheet"], times["bytes alone"])
            holds &= workload.verdict("against a page of bytes alone", ratio, RATIO_LIMIT)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
