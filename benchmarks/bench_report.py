"""The report of 2,000 clips: time and memory to build the page, its size, and when a browser shows it; and of 60."""

import argparse
import contextlib
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks import workload
from tests.scoring.factory import Case, make_case, make_input, write_frames

SECONDS_LIMIT, MB_LIMIT, PAINT_LIMIT = 5.0, 400.0, 1.0
PAGES = ((60, 60, 3.0), (2000, 200, 5.0))
"""Clips, explanations shown in full, and largest page in MB."""
CHILD = """\
import resource, sys, time
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from score.evaluate import evaluate
from score.messages import of_run
from score.pipeline import prepare, scored
from score.report.gate import redact
from score.report.write import report_page

def memory():
    # Linux counts kilobytes, macOS bytes.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)

run = prepare(Path(sys.argv[2]))
evaluation = evaluate(run.outcomes, run.settings, run.results.run.duration_s)
problems = of_run(run.results, run.outcomes, run.audience)
before, started, worked = memory(), time.perf_counter(), time.process_time()
page = report_page(redact(scored(run, evaluation, problems)))
print(time.process_time() - worked, time.perf_counter() - started, memory(), before)
Path(sys.argv[3]).write_text(page, encoding="utf-8")
"""


def case_of(clips: int, gallery: int) -> Case:
    """Create a phase whose report shows everything."""
    report = {"clips": True, "truth": True, "gallery": gallery, "key_frames": "frames.csv"}
    return make_case(clips=clips, bootstrap={"resamples": 0, "level": 0.95, "seed": 1}, report=report)


def first_paint(page: Path) -> float | None:
    """Return the seconds until Chromium's first paint of the page, the least of three; None without Chromium."""
    with contextlib.suppress(ImportError):
        from playwright.sync_api import Error, sync_playwright  # noqa: PLC0415 - optional

        with sync_playwright() as engine, contextlib.suppress(Error):
            browser = engine.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
            paints: list[float] = []
            for _ in range(3):
                tab = browser.new_page(viewport={"width": 1280, "height": 900})
                tab.goto(page.as_uri())
                script = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
                paints.append(float(tab.evaluate(script)) / 1000)
                tab.close()
            browser.close()
            return min(paints)
    return None


def main() -> int:
    """Measure and print; the exit code tells whether the limits hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=int, help="only the page of so many clips: 60 or 2000")
    options = parser.parse_args()
    holds = True
    for clips, gallery, megabytes in PAGES:
        if options.clips not in (None, clips):
            continue
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            case = case_of(clips, gallery)
            make_input(folder / "input", case)
            write_frames(folder / "input" / "ref", case.clip_ids)
            page = folder / "page.html"
            program = workload.ROOT / "scoring_program"
            command = [sys.executable, "-c", CHILD, str(program), str(folder / "input"), str(page)]
            done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=workload.ROOT)
            worked, seconds, peak, before = map(float, done.stdout.split())
            print(f"{clips} clips, {gallery} of them whole; {before:.0f} MB before the page; built in {seconds:.1f} s")
            holds &= workload.verdict("building the page, s of one processor", worked, SECONDS_LIMIT)
            holds &= workload.verdict("memory, MB", peak, MB_LIMIT)
            holds &= workload.verdict("the page, MB", page.stat().st_size / 1e6, megabytes)
            paint = first_paint(page)
            if paint is None:
                print("no Chromium: when the page is shown was not measured")
            else:
                holds &= workload.verdict("first content, s", paint, PAINT_LIMIT)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
