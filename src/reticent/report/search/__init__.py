"""The page of a search: what was chosen, how accuracy and leak go with the values, the table."""

from reticent.report.search.text import terminal
from reticent.report.search.write import write_search

__all__ = ["terminal", "write_search"]
