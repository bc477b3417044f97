"""The report of a study: page, section for the docs, figure files, terminal text; reads the document only."""

from reticent.report.study.text import markdown, terminal
from reticent.report.study.write import write_study

__all__ = ["markdown", "terminal", "write_study"]
