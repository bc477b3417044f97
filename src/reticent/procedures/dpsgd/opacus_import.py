"""The one door to Opacus, an optional dependency: found or named with its install line, and imported quietly."""

import importlib
import importlib.util
import logging
import re
import warnings
from importlib import metadata
from typing import Any

from reticent.errors import MissingExtraError

EXTRA = ("opacus", "dp", "DP-SGD")
"""The package, the extra that brings it, and what it is for."""
OLDEST = (1, 6)
"""Earlier versions are not tested."""


def needed() -> None:
    """Check that Opacus is installed, in a version that is tested, without importing it."""
    if importlib.util.find_spec("opacus") is None:
        raise MissingExtraError(*EXTRA)
    found = metadata.version("opacus")
    if tuple(int(part) for part in re.findall(r"\d+", found)[:2]) < OLDEST:
        raise MissingExtraError(*EXTRA, found=found)


def module(name: str) -> Any:
    """Import a part of Opacus; its warnings, and the handler that it gives to the root logger, are dropped."""
    before = list(logging.root.handlers)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return importlib.import_module(f"opacus.{name}")
        except ModuleNotFoundError as error:
            raise MissingExtraError(*EXTRA) from error
        finally:
            logging.root.handlers[:] = before
