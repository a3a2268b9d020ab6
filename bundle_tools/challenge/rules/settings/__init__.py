"""Rules about `competition.yaml` and the texts that it names."""
