"""The report: one self-contained page, ``detailed_results.html``.

``gate`` takes away what a phase closes; ``first_screen``, ``predictions``, ``explanations`` and ``provenance`` build
sections from what is left; ``templates/`` format them by the filters of ``numbers``; ``write`` renders the pages.
"""
