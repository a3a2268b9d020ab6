"""The report: one self-contained page, ``detailed_results.html``.

``gate`` removes what a phase closes; ``first_screen``, ``predictions``, ``explanations`` and ``provenance`` build
sections from the rest; ``templates/`` format them with the filters of ``page``; ``write`` renders the pages.
"""
