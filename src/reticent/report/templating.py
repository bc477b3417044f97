"""Templates to pages: one file with its style and script inside, under a policy that forbids every request."""

import base64
import hashlib
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from reticent import rounding
from reticent.report import view, wording
from reticent.report.stacking import stacked

FILTERS = (
    "number",
    "percent",
    "level",
    "written",
    "count",
    "middle",
    "limits",
    "span",
    "value",
    "from_below",
    "words",
    "signed",
)
"""What templates take from `reticent.report.wording`."""


def render(template: str, values: Mapping[str, Any]) -> str:
    """Fill a template of this package."""
    css, js = _asset("report.css"), _asset("report.js")
    shared = {
        "missing": rounding.MISSING,
        "mark": wording.MARK,
        "tie_note": wording.TIES,
        "css": Markup(css),  # noqa: S704 - a file of this package
        "js": Markup(js),  # noqa: S704 - a file of this package
        "policy": _policy(js),
    }
    return stacked(_environment().get_template(template).render({**shared, **values})) + "\n"


def drawn(svg: str) -> Markup:
    """Mark a figure as ready for the page."""
    return Markup(svg)  # noqa: S704


def breakable(text: str) -> Markup:
    """Let a name break where its parts end, and not in the middle of a word."""
    return Markup(re.sub("([,:+])(?=[^ ])", r"\1<wbr>", str(escape(text))))  # noqa: S704 - escaped, and tags of ours


def _policy(script: str) -> str:
    """Forbid every request, and every script but the page's own."""
    digest = base64.b64encode(hashlib.sha256(f"\n{script}\n".encode()).digest()).decode("ascii")
    return (
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )


@cache
def _asset(name: str) -> str:
    return files("reticent.report").joinpath("templates", name).read_text(encoding="utf-8").strip()


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("reticent.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update({name: getattr(wording, name) for name in FILTERS})
    environment.filters["decimals"] = rounding.decimals
    environment.filters["short"] = view.short
    environment.filters["breakable"] = breakable
    return environment
