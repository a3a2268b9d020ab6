"""Where faces are in filmed clips: found by what OpenCV ships, and shown on a page to be looked over."""
