"""From a labelled set to an organiser's folder: make clips, write data, all or nothing."""
