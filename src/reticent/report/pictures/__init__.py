"""The figures of each kind of document, as SVG for a page: one file a kind."""
