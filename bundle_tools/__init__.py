"""The organiser's and participant's command line: check, build and run the competition bundle."""
