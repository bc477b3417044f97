"""``reticent defenses``: what there is, what each needs, costs and goes with; or all of one, with its options."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reticent.jobs.defenses import Defense


def defenses(name: str | None = None) -> None:
    """List the defenses, or tell all of one: options, needs, cost, paper, and what it cannot be combined with.

    Args:
        name: A defense; by default all are listed.
    """
    from reticent.cli.screen import stdout
    from reticent.jobs.defenses import catalogue, explained

    console = stdout()
    console.print(_list(catalogue()) if name is None else _one(explained(name)))
    if name is None:
        console.print("Use: reticent audit --defense NAME, with options as NAME:option=value; join two by +.")


def _list(found: "list[Defense]") -> object:
    from rich.table import Table

    from reticent.jobs.defenses import KINDS

    table = Table(box=None, pad_edge=False)
    for heading in ("defense", "is", "what it does", "needs", "cost", "not with"):
        table.add_column(heading, overflow="fold")
    for one in found:
        needs = ", ".join(f"{need} records" for need in one.needs)
        table.add_row(one.name, KINDS[one.part], one.summary, needs, one.cost, _not_with(one))
    return table


def _not_with(one: "Defense") -> str:
    return ", ".join(f"{other} ({when})" if when else other for other, when in one.clashes.items())


def _one(one: "Defense") -> object:
    from rich.console import Group
    from rich.table import Table

    from reticent.jobs.defenses import KINDS

    facts = Table(show_header=False, box=None, pad_edge=False)
    facts.add_column(style="bold")
    facts.add_column(overflow="fold")
    facts.add_row(one.name, one.summary)
    facts.add_row("is", f"{KINDS[one.part]} (the recipe's {one.part})")
    facts.add_row("needs", ", ".join(f"{need} records (--{need} N)" for need in one.needs) or "nothing more")
    facts.add_row("cost", one.cost)
    facts.add_row("paper", one.paper or "none")
    facts.add_row("not with", _not_with(one) or "goes with all of other kinds")
    if one.inner:
        facts.add_row("second stage", f"may be {', '.join(one.inner)}, as in {one.name}+{one.inner[0]}")
    if one.guarantee:
        facts.add_row("guarantee", one.guarantee)
    for place, given in one.published.items():
        told = ", ".join(f"{key}={value:g}" for key, value in given.items())
        facts.add_row(f"on {place.replace('/', ', ')}", f"{told} (the authors', unless you give others)")
    facts.add_row("card", f"in the repository: docs/methods/{one.name}.md")
    options = Table(box=None, pad_edge=False)
    for heading in ("option", "default", "meaning"):
        options.add_column(heading, overflow="fold")
    for key, (meaning, default) in one.options.items():
        options.add_row(key, "" if default is None else str(default), meaning)
    return Group(facts, "", options) if one.options else facts
