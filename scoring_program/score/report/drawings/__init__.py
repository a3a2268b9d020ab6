"""SVG drawings and pictures: numbers become path data and positions. What may be shown is decided elsewhere."""
