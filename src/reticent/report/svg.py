"""Matplotlib figures as SVG that belongs to a page: its colours, its fonts, its identifiers, its text alternative.

Matplotlib draws with fixed settings and a fixed salt, so the same figure is the same text. Colours become CSS
variables, so one drawing serves light, dark and paper.
"""

import contextlib
import io
import re
import warnings
from collections.abc import Iterator
from html import escape
from typing import Any

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from reticent.report.render.text import clean

INK, MUTED, RULE, PAPER = "#16202b", "#55606d", "#dfe4ea", "#fefefe"
"""Text, secondary text, thin lines, background."""

SERIES = ("#0072b2", "#c25400", "#00805e", "#a8487f", "#946300", "#5f6b78", "#6a51a3", "#7a4a2b")
"""Okabe and Ito's colours, darkened to a contrast of 3 on white; curves differ by their dashes too."""

VARIABLES = {INK: "--ink", MUTED: "--muted", RULE: "--rule", PAPER: "--paper"} | {
    colour: f"--s{i + 1}" for i, colour in enumerate(SERIES)
}

DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 2)),
    (0, (1.5, 1.5)),
    (0, (7, 2, 1.5, 2)),
    (0, (3, 1)),
    (0, (9, 3)),
    (0, (1, 3)),
    "-",
)

WIDTH = 360
"""Width of a figure in CSS pixels at scale 1: a phone shows it at that size, so its text stays readable."""

SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "reticent",
    "text.parse_math": False,
    "font.family": ["DejaVu Sans"],
    "font.size": 11,
    "axes.labelsize": 11,
    "axes.labelcolor": MUTED,
    "axes.edgecolor": MUTED,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "grid.color": RULE,
    "grid.linewidth": 0.8,
    "axes.axisbelow": True,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
    "legend.fontsize": 10,
    "legend.frameon": False,
    "lines.linewidth": 1.7,
    "path.simplify": True,
}


@contextlib.contextmanager
def drawing() -> Iterator[None]:
    """Draw with reticent's settings, whatever the user's Matplotlib settings are; those come back at the end."""
    with style.context([SETTINGS], after_reset=True), warnings.catch_warnings():
        # The browser's fonts draw the text; that Matplotlib's lack a letter only blurs its measure.
        warnings.filterwarnings("ignore", "Glyph", UserWarning)
        yield


def canvas(height: int, width: int = WIDTH) -> tuple[Figure, Axes]:
    """Make an empty figure with one set of axes."""
    figure = Figure(figsize=(width / 72, height / 72), dpi=72, layout="constrained")
    FigureCanvasSVG(figure)
    return figure, figure.add_subplot()


def render(figure: Figure, name: str, title: str, description: str) -> str:
    """Write a figure as an SVG element for a page."""
    stream = io.StringIO()
    settle(figure)
    figure.savefig(stream, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    width, height = (round(72 * inches) for inches in figure.get_size_inches())
    body = _tidy(stream.getvalue(), name)
    label = f'role="img" aria-labelledby="{name}-title {name}-desc"'
    title, description = (escape(clean(text, len(text))) for text in (title, description))
    texts = f'<title id="{name}-title">{title}</title>\n<desc id="{name}-desc">{description}</desc>'
    return f'<svg class="chart" viewBox="0 0 {width} {height}" {label}>\n{texts}\n{body}</svg>'


def settle(figure: Figure) -> None:
    """Lay a figure out once, so that places in pixels hold from now on and drawing does not do it again."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine("none")


def _tidy(text: str, name: str) -> str:
    """Keep the drawing of Matplotlib's file and drop the rest: prolog, root, metadata, comments, its style sheet."""
    body = re.sub(r"<!--.*?-->\s*", "", text, flags=re.DOTALL)
    body = body[body.index(">", body.index("<svg")) + 1 : body.rindex("</svg>")].strip()
    body = re.sub(r"<metadata>.*?</metadata>\s*|<style[^>]*>.*?</style>\s*", "", body, flags=re.DOTALL)
    body = re.sub(r"<defs>\s*</defs>\s*|\s*<g( id=\"[^\"]*\")?/>", "", body)
    used = set(re.findall(r'(?:href="|url\()#([^")]+)', body))
    # Only inside tags: what stands between them is text for people.
    return re.sub(r"<[^>]+>", lambda tag: _tidy_tag(tag[0], name, used), body) + "\n"


def _tidy_tag(tag: str, name: str, used: set[str]) -> str:
    """Rename or drop identifiers, leave the font to the page, shorten coordinates, name the colours."""
    tag = re.sub(r' id="([^"]+)"', lambda found: f' id="{name}-{found[1]}"' if found[1] in used else "", tag)
    tag = re.sub(r'(href="|url\()#', rf"\g<1>#{name}-", tag.replace("xlink:href", "href"))
    tag = re.sub(r"font: ([\d.]+px) [^;\"]*", r"font-size: \1", re.sub(r"font-family: [^;\"]*; ", "", tag))
    tag = re.sub(r"(\d\.\d\d)\d+", r"\1", tag)
    for colour, variable in VARIABLES.items():
        tag = tag.replace(colour, f"var({variable})")
    return tag
