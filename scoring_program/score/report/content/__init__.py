"""What the report may show: frozen objects, one module a section. Templates see nothing else.

What is not in these objects cannot leak. All texts are ready for people: rounded, with hidden characters made
visible; the templates escape them.
"""
