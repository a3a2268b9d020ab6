"""The first screen: how good it is, why, and what to fix first."""
