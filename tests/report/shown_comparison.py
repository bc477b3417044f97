"""A comparison's plain values, as every medium shows them."""

import io

from rich.console import Console

from reticent.findings.comparison import ComparisonDocument
from reticent.report import comparison as files
from reticent.report.kinds.comparison import comparison
from reticent.report.output import COMPARISON, Output
from reticent.report.render.html import html as render_html
from reticent.report.render.markdown import markdown as render_markdown
from reticent.report.render.terminal import terminal as render_terminal


def typed(plain):
    return ComparisonDocument.read(plain, "made up")


def html(plain):
    return render_html(comparison(typed(plain)))


def markdown(plain):
    return render_markdown(comparison(typed(plain)))


def terminal(plain, width=80):
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    console.print(render_terminal(comparison(typed(plain))))
    return console.file.getvalue()


def write(folder, plain, kind="html"):
    return files.write_comparison(Output.take(folder, COMPARISON, kind=kind), typed(plain))
