"""What runs inside the model process, beside the participant's code: the smallest possible set of modules."""
