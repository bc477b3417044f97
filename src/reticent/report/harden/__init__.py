"""The page of a repair: the verdict, before and after side by side, what was done, what is not said."""

from reticent.report.harden.text import terminal
from reticent.report.harden.write import write_harden

__all__ = ["terminal", "write_harden"]
