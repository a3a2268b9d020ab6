"""The cue reader: its measurements, weights and explanations."""
