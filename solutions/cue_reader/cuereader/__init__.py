"""What the cue reader measures, how it weighs it and how it tells what it did."""
