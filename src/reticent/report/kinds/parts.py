"""Parts that several kinds of documents have: what was audited, on which machine, what it cannot say, words."""

from collections.abc import Mapping, Sequence
from typing import Any

from reticent.findings.environment import Environment
from reticent.findings.population import Data
from reticent.report import blocks as b
from reticent.report.page import facts as listed_facts
from reticent.report.wording import count, value, words

COLUMNS = 200
"""Most columns of a table that the page lists."""


def facts(data: Data, environment: Environment, without: Sequence[str] = ()) -> b.Facts:
    """List what is known of the data, of who was used for what, and of the machine."""
    plain = {key: item for key, item in environment.to_json().items() if key not in without}
    known = listed_facts(data.to_json(), {}, (), plain)
    titles = {
        "facts_data": "Data",
        "facts_roles": "Who was used for what",
        "facts_environment": "Versions, machine, cost",
    }
    return b.Facts(tuple((title, _values(known[key])) for key, title in titles.items() if known[key]))


def _values(facts: Mapping[str, Any]) -> b.Values:
    return tuple(
        (words(key), _values(item) if isinstance(item, Mapping) and item else value(item))
        for key, item in facts.items()
    )


def columns(data: Data) -> tuple[b.Block, ...]:
    """List what each column of a table became."""
    if not data.columns:
        return ()
    heads = (
        b.Column("Column", numbers=False),
        b.Column("Read as", numbers=False),
        b.Column("Values"),
        b.Column("Missing"),
        b.Column("Features"),
        b.Column("Note", numbers=False),
    )
    rows = tuple(
        b.Row((
            b.Cell(b.Name(one.column or "(no name)", 40)),
            b.Cell(one.read_as),
            b.Cell(count(one.values)),
            b.Cell(count(one.missing)),
            b.Cell(count(one.features)),
            b.Cell((b.Strong("Check this: "), one.note) if one.telling else one.note),
        ))
        for one in data.columns[:COLUMNS]
    )
    left = len(data.columns) - COLUMNS
    more = f"And {count(left)} more, which the numbers beside this page list."
    return (
        b.Heading("What the models were fed: what each column of the table became", "columns"),
        b.Prose(data.fitted or ""),
        b.Table("What each column of the table became", heads, rows),
        *((b.Prose(more, "note"),) if left > 0 else ()),
    )


def limits(what: str, said: Sequence[str]) -> tuple[b.Block, ...]:
    """List what a document does not show."""
    return (b.Heading(f"What this {what} cannot say", "limits", "Limits", level=2), b.Bullets(tuple(said)))


def glossary(terms: Sequence[tuple[str, str]]) -> tuple[b.Block, ...]:
    """Explain the words, on a page."""
    return b.only(b.PAGE, b.Heading("Words", "words", "Words", level=2), b.Terms(tuple(terms)))


def listed(*groups: tuple[str, b.Values]) -> b.Facts:
    """List groups of facts that hold any."""
    return b.Facts(tuple((title, values) for title, values in groups if values))
