"""From a labelled set to an organiser's folder: clips made, data written, and nothing stands before all of it does."""
