"""Rules about what must stay hidden: labels, clips, people, the seal key."""
