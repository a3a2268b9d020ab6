"""A deterministic generator of synthetic talking heads whose labels have known causes.

One frozen `clip.ClipSpec` describes a clip completely; ``render(spec)`` draws it, speaks it and writes its words. A cue
is removed by rendering again with the same seed and the cue's neutral intensity.
"""
