"""The second pass: the model predicts altered copies, each with a place, a second or a cue changed."""
