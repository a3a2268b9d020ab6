"""Turn a labelled set into an organiser's folder: make clips, write data, all or nothing."""
