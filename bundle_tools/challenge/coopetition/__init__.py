"""Who built on whom, with what gain: credits of submissions turned into a measure of usefulness."""
