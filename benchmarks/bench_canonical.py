"""Cost of making clips canonical, against FFmpeg's program with the same filters and one thread.

Both are whole processes, run alternately on the same clips: a phone's clip that is turned, an interlaced one, and one
in the full range of another matrix. Needs the ffmpeg program.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import av

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks import workload
from bundle_tools.canonical import OWN

LIMIT = 1.3
MAKE = """\
import sys
from pathlib import Path
from bundle_tools.canonical import canonical
for path in sys.argv[1:]:
    Path(path + ".made.mp4").write_bytes(canonical(Path(path).read_bytes())[0])
"""
LAST = "scale=out_range=limited:out_color_matrix=bt709,setsar=1,format=yuv420p"
CASES = {
    "turned": (["-vf", f"transpose=dir=clock,{LAST}"], {}),
    "interlaced": (["-vf", f"bwdif=mode=send_frame,{LAST}"], {"x264-params": "tff=1"}),
    "full range": (["-vf", LAST], {}),
}
"""FFmpeg's filters for each case, and what encodes its clip."""


def main() -> int:
    """Measure and print; the exit code tells whether the limit holds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="runs of each case (default 3)")
    options = parser.parse_args()
    holds = True
    with tempfile.TemporaryDirectory() as temporary:
        for name, (filters, encoder) in CASES.items():
            clip = Path(temporary) / f"{name}.mp4"
            _write(clip, workload.make_clips()[0], name, encoder)
            times = workload.interleave(
                {
                    "canonical": partial(workload.run_script, MAKE, str(clip)),
                    "ffmpeg": partial(_ffmpeg, clip, filters),
                },
                options.rounds,
            )
            ratio = workload.median_ratio(times["canonical"], times["ffmpeg"])
            holds &= workload.verdict(f"{name}, against ffmpeg", ratio, LIMIT)
    return 0 if holds else 1


def _write(path: Path, source: Path, name: str, encoder: dict[str, str]) -> None:
    """Encode the benchmarks' clip as people have it."""
    with av.open(str(source)) as source_file, av.open(str(path), "w") as made:
        track = made.add_stream("libx264", rate=workload.FPS, options=encoder)
        assert isinstance(track, av.VideoStream)
        track.width, track.height, track.bit_rate = workload.WIDTH, workload.HEIGHT, workload.BITS_A_SECOND
        track.pix_fmt = "yuvj420p" if name == "full range" else "yuv420p"
        if name == "turned":
            track.set_display_matrix([0, 1 << 16, 0, -1 << 16, 0, 0, 0, 0, 1 << 30])
        sound = made.add_stream_from_template(source_file.streams.audio[0])
        for packet in source_file.demux(video=0, audio=0):
            if packet.stream.type == "audio" and packet.size:
                packet.stream = sound
                made.mux(packet)
            elif packet.stream.type == "video":
                for frame in packet.decode():
                    assert isinstance(frame, av.VideoFrame)
                    made.mux(track.encode(frame))
        made.mux(track.encode(None))


def _ffmpeg(clip: Path, filters: list[str]) -> float:
    options = [word for key, value in OWN.items() for word in (f"-{key}", value)]
    command = ["ffmpeg", "-y", "-loglevel", "error", "-noautorotate", "-threads", "1", "-filter_threads", "1"]
    started = time.perf_counter()
    subprocess.run(
        [*command, "-i", str(clip), *filters, "-c:v", "libx264", *options, "-c:a", "copy", f"{clip}.ffmpeg.mp4"],
        check=True,
    )
    return time.perf_counter() - started


if __name__ == "__main__":
    sys.exit(main())
