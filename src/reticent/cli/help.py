"""The help of a verb: the flags that most runs need, in a sentence each; or, for ``--help-all``, all flags in full."""

import inspect
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, get_args

import cyclopts
import docstring_parser
from cyclopts.help import DefaultFormatter, HelpPanel, InlineText

from reticent.spec import RARELY

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions

SENTENCE = re.compile(r"(?:\([^)]*\)|[^.;(]|[.;](?! |$))*")
USUAL = re.compile(r"(.*?)( \[[^][]*\])?")
"""A text about an option, and what stands for no value."""


class Page(DefaultFormatter):
    """A verb's help with its examples; where texts are given, by flag, of these flags alone and in these words."""

    def __init__(self, examples: str, short: Mapping[str, str] | None) -> None:
        super().__init__()
        self._examples, self._short = examples, short

    def render_description(self, console: "Console", options: "ConsoleOptions", description: Any) -> None:
        """Print what the verb does, and its examples."""
        super().render_description(console, options, description)
        for line in self._examples.splitlines():
            console.print(f"  {line}", markup=False, soft_wrap=True)
        if self._examples:
            console.print()

    def __call__(self, console: "Console", options: "ConsoleOptions", panel: HelpPanel) -> None:
        """Print one group of flags."""
        if self._short is not None:
            names = [(*entry.positive_names, entry.positional_label or "")[0] for entry in panel.entries]
            texts = [InlineText.from_format(self._short.get(name), "markdown") for name in names]
            shown = zip(panel.entries, names, texts, strict=True)
            entries = [entry.copy(description=text) for entry, name, text in shown if name in self._short]
            panel = panel.copy(entries=entries)
        if panel.entries:
            super().__call__(console, options, panel)


@contextmanager
def telling(verb: cyclopts.App, line: str, *, every: bool) -> Iterator[None]:
    """Have the help of a verb say what its function says of it, and not only the line of the list of verbs."""
    told = docstring_parser.parse(inspect.getdoc(verb.default_command) or "")
    flags = [one for one in verb.assemble_argument_collection(parse_docstring=True) if one.show]
    usual = {one.name: first(one.parameter.help or "") for one in flags if not rare(one)}
    short = not every and len(usual) < len(flags)
    before = verb.help, verb.help_formatter, verb.help_epilogue
    verb.help = told.short_description if short else None
    verb.help_formatter = Page("\n".join(one.description or "" for one in told.examples), usual if short else None)
    if short:
        verb.help_epilogue = f"These are the flags that most runs need. All of them, in full: `{line} --help-all`."
    try:
        yield
    finally:
        verb.help, verb.help_formatter, verb.help_epilogue = before


def rare(flag: "cyclopts.Argument") -> bool:
    """Tell whether a flag stands in the full help alone."""
    return RARELY in get_args(flag.field_info.annotation)


def first(text: str) -> str:
    """Cut a text about an option down to its first sentence, and what stands for no value."""
    whole = USUAL.fullmatch(" ".join(text.split()))
    assert whole is not None
    short = next(SENTENCE.finditer(whole[1]))[0]
    return short + "." * (not short.endswith(".")) + (whole[2] or "")
