"""A rule about shortcuts: names, order, sizes and lengths of clips must not predict the labels.

A model that uses such a shortcut scores well without having learnt anything. A permutation test decides whether chance
explains the findings. Its statistic is the largest of all correlations, so that many features raise no false alarm.
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from bundle_tools.challenge.rules.clips.chance import Verdict, judge
from bundle_tools.challenge.rules.clips.tables import read_clips, read_copies, read_json, read_labels
from bundle_tools.challenge.rules.clips.video import UnreadableVideo, describe_file
from bundle_tools.codabench.rules.dataset import Dataset, find
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.rules.findings import Finding, Severity

FEWEST_CLIPS = 8
ERROR_P, WARNING_P = 0.001, 0.01
# In a large set even a trace is certain; below this correlation it is worth a warning, as in files of real video.
ERROR_CORRELATION = 0.2
OF_MOTION = ("file size", "bit rate")
"""Properties that follow motion whatever the encoder. Models see neither."""
# Most numbers in a name that are used.
MOST_NUMBERS = 3
MISSING = -1.0


def check_shortcuts(draft: Draft) -> Iterator[Finding]:
    """Find clips whose names, order, sizes or lengths predict their labels."""
    seen = set()
    for task in draft.keys.tasks:
        given, wanted = find(draft, task.input_data), find(draft, task.reference_data)
        place = str(task.input_data)
        if given is None or wanted is None or place in seen:
            continue
        seen.add(place)
        labels = read_labels(wanted)
        clips, columns = features(given, [row for row in read_clips(given) if row[0] in labels.rows])
        if len(clips) < FEWEST_CLIPS:
            continue
        targets = {name: [labels.rows[clip][at] for clip in clips] for at, name in enumerate(labels.targets)}
        sources = [labels.sources[clip] for clip in clips]
        verdict = judge(columns, targets, sources)
        if verdict is None or verdict.p >= WARNING_P:
            continue
        found = "; ".join(f"{one.feature} and {one.target} {one.correlation:+.2f}" for one in verdict.relations)
        what = f"Labels can be predicted without watching a clip (p = {verdict.p:.4f}): {found}."
        effect = "A model can score without looking at a clip."
        alike = "Encode all alike (`bundle data from-folder --reencode 360`), with one length, one size and no dates."
        fix = f"Shuffle and rename the clips at random. {alike}"
        severity: Severity = "error" if _is_plain(verdict) else "warning"
        if severity == "error" and not read_copies(given):
            others = {name: values for name, values in columns.items() if name not in OF_MOTION}
            if not _is_plain(judge(others, targets, sources)):
                severity = "warning"
                effect = "What moves makes a filmed clip's file larger: these labels may follow motion."
                fix = f"{alike} If this stays, compare models with the baseline *File metadata only*."
        yield Finding("giveaway", severity, place, what, effect, fix)


def _is_plain(verdict: Verdict | None) -> bool:
    """Return whether labels can be told beyond doubt, and not just a trace of them."""
    return (
        verdict is not None
        and verdict.p < ERROR_P
        and any(abs(one.correlation) >= ERROR_CORRELATION for one in verdict.relations)
    )


def features(data: Dataset, clips: list[tuple[str, str, str]]) -> tuple[list[str], dict[str, list[float | str]]]:
    """Describe each clip by properties that are known without watching it.

    `clips`: rows of clip_id, file, sha256, in the order of the list.
    Returns `ids`: ids of the clips; those that cannot be read are left out.
    Returns `features`: name of a feature -> one value for each of these clips: a number, or a text that is ranked
    alphabetically.
    """
    names = set(data.names())
    texts = read_json(data, "transcripts.json")
    transcripts = {clip: place for place, clip in enumerate(texts)} if isinstance(texts, dict) else {}
    ids: list[str] = []
    table: dict[str, list[float | str]] = {}
    for position, (clip, file, _) in enumerate(clips):
        if file not in names:
            continue
        try:
            video = describe_file(data, file)
        except UnreadableVideo:
            continue
        ids.append(clip)
        name = PurePosixPath(file).name
        known: dict[str, float | str] = {
            "place in the list": position,
            "place in the transcripts": transcripts.get(clip, MISSING),
            "alphabetical place of the id": clip,
            "alphabetical place of the file": name,
            "length of the file's name": len(name),
            "file size": video.file_bytes,
            "duration": round(video.duration_s, 3),
            "number of frames": video.packets,
            "frame rate": video.fps,
            "width": video.width,
            "height": video.height,
            "bit rate": video.file_bytes / (video.duration_s or 1.0),
            "size of the sound": video.sound_bytes,
            "overhead of the container": video.file_bytes - video.video_bytes - video.sound_bytes,
            "creation time": video.created,
        }
        known |= {f"number {rank} in the id": value for rank, value in enumerate(_numbers(clip), 1)}
        known |= {f"number {rank} in the file's name": value for rank, value in enumerate(_numbers(name), 1)}
        for key, value in known.items():
            table.setdefault(key, []).append(value)
    return ids, table


def _numbers(name: str) -> list[float]:
    """Return the first numbers in a name, padded to a fixed count."""
    found = [float(digits) for digits in re.findall(r"[0-9]+(?:\.[0-9]+)?", name)[:MOST_NUMBERS]]
    return found + [MISSING] * (MOST_NUMBERS - len(found))
