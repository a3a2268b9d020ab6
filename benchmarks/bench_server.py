"""A server on this machine: fetching 100 submissions of 1 MB, and the overhead of `publish` over the transfer."""

import os
import sys
import tempfile
import time
import urllib.request
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from bundle_tools.cli.main import main
from tests.codabench.server.codabench import Server
from tests.codabench.server.conftest import FILES, write_zip
from tests.codabench.server.listening import serving

SUBMISSIONS, MEGABYTE = 100, 10**6
FETCH_LIMIT_S, PUBLISH_LIMIT_S = 30.0, 2.0
TOKEN = "organiser-token"  # noqa: S105 - of the small server


def command(*words: object) -> float:
    """Run `bundle server ...` silently and return its seconds."""
    started = time.perf_counter()
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        assert main(["server", *map(str, words)]) == 0
    return time.perf_counter() - started


def transfer_s(server: Server, content: bytes) -> float:
    """Return the seconds of only sending a file to the server's storage."""
    url = f"{server.address}/storage/alone/x.zip?Signature=s"
    request = urllib.request.Request(url, content, {"Content-Type": "application/zip"}, method="PUT")  # noqa: S310
    started = time.perf_counter()
    with urllib.request.urlopen(request) as answer:  # noqa: S310 - this machine
        answer.read()
    return time.perf_counter() - started


def measure(folder: Path) -> bool:
    """Measure both; return whether the limits hold."""
    random = os.urandom(MEGABYTE)
    with serving(Server()) as server:
        archive = write_zip(folder / "bundle.zip", {**FILES, "input_data/large.mp4": random * 36})
        alone = transfer_s(server, archive.read_bytes())
        whole = command("publish", server.address, "--bundle", archive, "--yes")
        [number] = server.competitions
        phase = server.competitions[number]["phases"][0]["id"]
        for one in range(SUBMISSIONS):
            key = server.add_file(f"p{one}", random)
            scores = [{"column_key": "accuracy", "index": 0, "score": "0.5"}]
            server.add_submission(f"p{one}", phase, key, status="Finished", scores=scores, on_leaderboard=True)
        server.outputs = lambda _: {
            "prediction_result": random,
            "scoring_result": random,
            "detailed_result": random,
            **{f"{job}_{stream}": b"log\n" for job in ("prediction", "scoring") for stream in ("stdout", "stderr")},
        }
        address = f"{server.address}/competitions/{number}/"
        fetched = command("fetch", address, "--phase", "practice", "--out", folder / "fetched")
        again = command("fetch", address, "--phase", "practice", "--out", folder / "fetched")
    print(f"fetch    {SUBMISSIONS} submissions, 4 MB each with outputs: {fetched:.1f} s (limit {FETCH_LIMIT_S:.0f})")
    print(f"         once more, with nothing new: {again:.2f} s, {again / fetched:.2f} of that")
    print(f"publish  36 MB: {whole:.2f} s, {whole - alone:.2f} s more than the transfer (limit {PUBLISH_LIMIT_S:.0f})")
    return fetched < FETCH_LIMIT_S and whole - alone < PUBLISH_LIMIT_S


if __name__ == "__main__":
    os.environ["CODABENCH_TOKEN"] = TOKEN
    with tempfile.TemporaryDirectory(prefix="bench-server-") as place:
        sys.exit(0 if measure(Path(place)) else 1)
