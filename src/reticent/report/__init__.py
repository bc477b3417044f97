"""What people read: the page, the terminal's table, the model-card section, the files, all from one plain dictionary.

The dictionary is what ``audit.json`` holds (``docs/schema.md``). Nothing here measures anything: what is not in the
dictionary is not in the report.
"""
