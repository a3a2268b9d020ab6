"""Real footage of people, from a public package: phones and cameras write files that no generator thinks of."""

from pathlib import Path

import av
import numpy as np
import pytest

from ingest.media.frame_stream import plan_stream
from ingest.media.sound import read_sound
from ingest.media.video import FrameReader, frame_shape, read_facts, wanted_frames
from ingest.requests import FrameRequest
from tests import there

pytestmark = pytest.mark.footage

FILES = {
    # name: frames, size, mean frames a second (the last two vary it), sound that can be heard
    "WolfgangLanger_Pexels.mp4": (472, (640, 360), 23.976, False),
    "single_face.mp4": (72, (640, 360), 30.0, True),
    "face_noface.mov": (None, (960, 540), 26.4, True),
    "noface_face.mov": (None, (960, 540), 26.5, True),
}


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
