"""What changes pixels and samples: everything that makes another clip out of a clip."""
