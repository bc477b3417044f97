"""What people read of a comparison: the page, the terminal's table, Markdown, the files, from one plain dictionary."""

from reticent.report.comparison.tables import terminal
from reticent.report.comparison.text import markdown
from reticent.report.comparison.write import write_comparison

__all__ = ["markdown", "terminal", "write_comparison"]
