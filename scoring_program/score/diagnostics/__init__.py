"""What the report tells beside the axes: where an explanation falls short, and why."""
