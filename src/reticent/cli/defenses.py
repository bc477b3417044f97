"""``reticent defenses``: what there is, what each needs, costs and goes with; or all of one, with its options."""

from typing import TYPE_CHECKING

from reticent.cli.screen import say, show
from reticent.report import blocks as b
from reticent.say.defenses import apart, goes_with
from reticent.say.grammar import listed

if TYPE_CHECKING:
    from reticent.jobs.defenses import Defense


def defenses(name: str | None = None) -> None:
    """List the defenses, or tell all of one: options, needs, cost, paper, and what it cannot be combined with.

    Args:
        name: A defense; by default all are listed.
    """
    from reticent.jobs.defenses import KINDS, catalogue, explained

    if name is not None:
        show(*_one(explained(name)))
        return
    rows = []
    for one in catalogue():
        needs = ", ".join(f"{need} records" for need in one.needs)
        rows.append((one.name, KINDS[one.part], one.summary, needs, one.cost, apart(one.clashes)))
    show(b.table("Defenses", b.words("defense", "is", "what it does", "needs", "cost", "not with"), rows))
    say("Use: reticent audit --defense NAME, with options as NAME:option=value; join two by +.")


def _one(one: "Defense") -> list[b.Block]:
    from reticent.jobs.defenses import KINDS

    rows = {
        one.name: one.summary,
        "is": f"{KINDS[one.part]} (the recipe's {one.part})",
        "needs": ", ".join(f"{need} records (--{need} N)" for need in one.needs) or "nothing besides the data",
        "cost": one.cost,
        "paper": one.paper or "none",
        "goes with": goes_with([kind for part, kind in KINDS.items() if part != one.part], one.clashes),
    }
    if one.inner:
        rows["second stage"] = f"plain, or {listed(one.inner, 'or')}: {one.name}+{one.inner[0]}"
    if one.guarantee:
        rows["guarantee"] = one.guarantee
    for place, given in one.published.items():
        told = ", ".join(f"{key}={value:g}" for key, value in given.items())
        rows[f"on {place.replace('/', ', ')}"] = f"{told} (the authors', unless you give others)"
    rows["card"] = f"in the repository: docs/methods/{one.name}.md"
    options = ((key, default, meaning) for key, (meaning, default) in one.options.items())
    shown = b.table("Options", b.words("option", "default", "meaning"), options)
    return [b.Facts((("", tuple(rows.items())),)), *[shown] * bool(one.options)]
