"""Faces in filmed clips: found by OpenCV's own detector, and shown on a page for checking."""
