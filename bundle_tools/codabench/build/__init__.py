"""Building the zip of any bundle."""
