"""Limits held against the document of an audit: a pass is a claim of its own, and upper limits are judged."""
