"""The second pass: the model is asked again for clips in which a place, a moment or a cue is hidden."""
