"""ChaLearn First Impressions V2 as downloaded: nested archives, pickles of Python 2, groups and ages."""
