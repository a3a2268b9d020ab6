"""Numbers that the report shows beside the axes: where explanations fall short, and why."""
