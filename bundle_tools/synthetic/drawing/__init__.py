"""Pictures: from the pose of a person to a frame."""
