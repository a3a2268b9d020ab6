"""The first screen: how good the run is, why, and what to fix first."""
