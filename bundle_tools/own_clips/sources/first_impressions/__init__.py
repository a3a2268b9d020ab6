"""ChaLearn First Impressions V2 as downloaded: nested archives, Python 2 pickles, groups and ages."""
