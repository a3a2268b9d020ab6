"""What speed and memory cost, as ratios measured in one run on the same machine."""
