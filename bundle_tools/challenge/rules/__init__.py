"""Rules about the data and settings of this challenge, in addition to the rules for any bundle."""
