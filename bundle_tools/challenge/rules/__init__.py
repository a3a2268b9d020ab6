"""Rules about the data and settings of this challenge, beside what holds for any bundle."""
