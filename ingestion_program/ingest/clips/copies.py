"""Rendered copies of clips, each with one cue made neutral: a list, files and transcripts, checked like the clips."""

from dataclasses import dataclass
from pathlib import Path

from ingest.clips.table import check_file, problem, read_rows
from ingest.errors import Problem

COLUMNS = ["copy_id", "clip_id", "cue", "file", "sha256"]


@dataclass(frozen=True)
class Copy:
    """One rendered copy."""

    cue: str
    """The cue that is neutral in it."""
    path: Path
    transcript: str
    sha256: str
    """Hash of the file when the run began."""


def read_copies(
    input_data: Path,
    name: str,
    cues: tuple[str, ...],
    clip_ids: set[str],
    transcripts: dict[str, str],
    problems: list[Problem],
) -> dict[str, tuple[Copy, ...]]:
    """Return the copies of every clip that has some; add mistakes to `problems`."""
    copies: dict[str, dict[str, Copy]] = {}
    for where, (copy_id, clip_id, cue, file, sha256) in read_rows(input_data / name, COLUMNS, problems):
        before = len(problems)
        if copy_id in clip_ids:
            problems.append(problem("clip_twice", where, copy_id, "an id that no clip has", "rename the copy"))
        if clip_id not in clip_ids:
            found = ascii(clip_id)[:80]
            problems.append(problem("clip_unknown", where, found, "a clip of the list", "correct the clip_id"))
        if cue not in cues:
            fix = "correct the cue, or add it to the settings"
            problems.append(problem("copy_cue", where, ascii(cue)[:80], f"one of {', '.join(cues)}", fix))
        elif cue in copies.get(clip_id, {}):
            problems.append(
                problem("copy_cue", where, f"a second copy for {cue}", "each cue once per clip", "remove one")
            )
        if copy_id not in transcripts:
            # An empty transcript would neutralise a second cue: the words.
            fix = "add the copy's text to the transcripts, even if empty"
            problems.append(problem("copy_transcript", where, "no transcript", "a transcript for every copy", fix))
        if check_file(input_data, file, sha256, where, problems) and len(problems) == before:
            copies.setdefault(clip_id, {})[cue] = Copy(cue, input_data / file, transcripts[copy_id], sha256.lower())
    return {clip_id: tuple(of_clip.values()) for clip_id, of_clip in copies.items()}
