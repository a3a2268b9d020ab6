"""The second pass: the model predicts clips in which a place, a second or a cue is hidden."""
