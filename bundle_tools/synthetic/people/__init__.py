"""The person in a clip, the cues and words, and the labels that follow from them."""
