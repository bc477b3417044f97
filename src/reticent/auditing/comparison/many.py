"""The sentence of a comparison of many recipes: how many beat their control, how many do not, and which."""

from collections.abc import Sequence

from reticent.auditing.comparison.findings import MEASURES, Findings, Standing, standing
from reticent.auditing.comparison.rows import Row
from reticent.auditing.comparison.wording import lost

MANY = 2
"""Beside the baseline; of more recipes the sentence counts, in place of telling of each."""


def counted(rows: Sequence[Row], baseline: str, findings: Findings) -> str:
    """Say of how many recipes, and of which, it is shown that they leak less or more than their control.

    The control of a recipe is the baseline stopped early at its accuracy, or the baseline itself where there is none.

    Args:
        rows: of all recipes and controls.
        baseline: name of the row that the others are held against.
        findings: the tests.

    Returns:
        One sentence.
    """
    recipes = [row.name for row in rows if row.checked.entry.role == "recipe" and row.name != baseline]
    sorts: dict[str, list[str]] = {"less": [], "more": [], "mixed": [], "tie": [], "open": [], "idle": []}
    alone: list[str] = []
    for name in recipes:
        held = standing(rows, name, baseline, findings)
        if held.unlearned is None and lost(rows, name, baseline, findings) is not None:
            alone.append(name)
            continue
        sort: str = "idle" if held.unlearned is not None else "open" if held.apart else held.relation
        sorts[sort].append(_named(name, held, findings))
    early = any(row.checked.entry.role == "control" for row in rows)
    stopped = f"the baseline ({baseline}){', stopped early to be as accurate' * early}"
    told = {
        "less": "leak less than {}",
        "more": "leak more than {}",
        "mixed": "leak less than {} by one measure and more by the other",
        "tie": "are not told apart from {}",
        "open": "cannot be judged, since no control is as accurate",
        "idle": "cannot be judged, since most of the models did not learn",
    }
    clauses: list[str] = []
    for sort, names in sorts.items():
        if names:
            other = stopped if not clauses else "it"
            clauses.append(f"{len(names)} {told[sort].format(other)} ({', '.join(names)})")
    if not sorts["less"]:
        clauses.insert(0, f"none is shown to leak less than {stopped}")
        clauses[1:] = [clause.replace(stopped, "it") for clause in clauses[1:]]
    if alone:
        verb = "differs" if len(alone) == 1 else "differ"
        clauses.append(
            f"{', '.join(alone)} {verb} in accuracy, too, and without a control that may be all of what sets "
            f"{'it' if len(alone) == 1 else 'them'} apart"
        )
    idle = [name for name in recipes if findings.same(name, baseline)]
    if idle:
        verb = "gives" if len(idle) == 1 else "give"
        clauses.append(f"{', '.join(idle)} {verb} the same answers as {baseline}: nothing was done there")
    return f"Of {len(recipes)} recipes, {'; '.join(clauses)}."


def _named(name: str, held: Standing, findings: Findings) -> str:
    """Name a recipe, the measure where one alone sets it apart, and that its accuracy is not known if it is not."""
    alone = not held.apart and held.unlearned is None and findings.partly(name, held.control)
    told = [f"by the {MEASURES[held.by[0]]} alone"] if alone else []
    told += [] if held.known else ["accuracy not known"]
    return f"{name} [{', '.join(told)}]" if told else name
