"""Find faces in filmed clips with OpenCV's own detector, and show them on a page for checking."""
