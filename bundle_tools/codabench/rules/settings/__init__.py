"""Rules about competition.yaml."""
