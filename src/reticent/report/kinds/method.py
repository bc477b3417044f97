"""What the documents of all kinds say of how they were made: the data, the models, the recipe, the machine."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from reticent.findings.attack import Audit
from reticent.findings.base import Finding, Plain
from reticent.findings.environment import Environment
from reticent.findings.population import ColumnReading, CwrfRepair, Data, Population, PptpRepair, PrunedPopulation
from reticent.report import blocks as b
from reticent.rounding import count, duration, interval, memory, number, percent
from reticent.say.grammar import plural, short

LISTED = 200
"""Most columns of a table that a page lists."""
PLACES = 6
"""Stages that are named; more are counted."""
NAMED = 12
"""Most classes that are named."""
NAMES = {
    "seconds_models": "model-seconds of training",
    "reticent": "reticent",
    "python": "Python",
    "torch": "PyTorch",
    "numpy": "NumPy",
    "scipy": "SciPy",
    "peak_memory_bytes": "peak memory",
    "duplicates": "exact duplicates",
    "models_found": "models found finished in the store, not trained again",
    "stacked": "several trained together, as one computation (--stack)",
    "audited": "members and non-members in turn",
    "validation": "validation (stops and picks models)",
    "reference": "the defender's reference non-members",
    "population": "the attacker's population",
}
"""Keys whose names on the page are not just the key's words."""
COUNTED = frozenset({"records", "classes", "duplicates", "models", "parameters", "replicates", "models_found"})
"""Keys whose values count things."""


def about_data(data: Data) -> tuple[tuple[str, b.Values], ...]:
    """List what is known of the data, and which records had which role."""
    known = values(data, "class_names", "roles", "columns", "fitted", "notes", "persons")
    names = [short(name, 40) for name in data.class_names[:NAMED]] + ["…"] * (len(data.class_names) > NAMED)
    known += (("class names", ", ".join(names)),) if names else ()
    roles = tuple((NAMES.get(role, role), count(many)) for role, many in (data.roles or {}).items())
    return ("Data", known), ("Who was used for what", roles)


def about_models(recipe: Plain | None, population: Population) -> tuple[tuple[str, b.Values], ...]:
    """List how the models were trained, what they are, and what a repair did in them."""
    return (
        ("How the models were trained", tree(used(recipe or {}))),
        (
            "The models",
            values(population, "accuracy", "accuracy_of_targets", "health", "notices", "per_model", "repair"),
        ),
        ("What the repair did", repaired(population)),
    )


def about_attacks(audits: Sequence[Audit]) -> tuple[tuple[str, b.Values], ...]:
    """List the options of attacks, and how the intervals were made."""
    options = tuple(
        (audit.name, tree({name: item for name, item in audit.spec.items() if name != "method"}) or "no options")
        for audit in audits
    )
    drawn = next((audit.bootstrap for audit in audits if audit.bootstrap is not None), None)
    made = () if drawn is None else tuple((f"bootstrap {name}", value) for name, value in values(drawn))
    return ("Options of the attacks", options), ("How the intervals were made", made)


def about_run(environment: Environment, *apart: str) -> tuple[tuple[str, b.Values], ...]:
    """List versions, the machine and the cost."""
    stages = tuple((name, duration(seconds)) for name, seconds in environment.stages.items())
    parts = tuple((name, duration(seconds)) for name, seconds in environment.seconds_parts.items())
    costs: b.Values = (("time of one model's training", stages),) if stages else ()
    costs += (("time of scoring, by part", parts),) if parts else ()
    apart = ("stages", "seconds_attacks", "seconds_parts", *apart)
    return (("Versions, machine, cost", values(environment, *apart) + costs),)


def facts(*groups: tuple[str, b.Values]) -> b.Facts:
    """List those groups of facts that are not empty."""
    return b.Facts(tuple(group for group in groups if group[1]))


def limits(what: str, said: Sequence[str]) -> tuple[b.Block, ...]:
    """List what a document does not show."""
    return (b.Heading(f"What this {what} cannot say", "limits", "Limits", level=2), b.Bullets(tuple(said)))


def glossary(terms: Iterable[tuple[str, str]]) -> tuple[b.Block, ...]:
    """Explain the words, on a page."""
    return b.only(b.PAGE, b.Heading("Words", "words", "Words", level=2), b.Terms(tuple(terms)))


def columns(data: Data) -> tuple[b.Block, ...]:
    """Show what each column of a table became."""
    if not data.columns:
        return ()
    heads: b.Heads = (*b.words("Column", "Read as"), "Values", "Missing", "Features", *b.words("Note"))
    left = len(data.columns) - LISTED
    more = f"{plural(left, 'more column')} not listed here; the JSON file beside this page has all."
    title = "What each column of the table became"
    return (
        b.Heading(f"What the models were given: {title[0].lower()}{title[1:]}", "columns"),
        b.Prose(data.fitted or ""),
        b.table(title, heads, map(_column, data.columns[:LISTED]), key="columns-table"),
        *((b.Prose(more, "note"),) if left > 0 else ()),
    )


def _column(column: ColumnReading) -> b.Line:
    note: b.Text = (b.Strong("Check this: "), column.note) if column.telling else column.note
    numbers = map(count, (column.values, column.missing, column.features))
    return b.Name(column.column or "(no name)", 40), column.read_as, *numbers, note


def scale(data: Data, models: int | None = None) -> str:
    """Say how large an audit is."""
    return ", ".join([
        *([] if models is None else [plural(models, "model")]),
        f"{audited(data)} record{'s' * (data.records != 1)}",
        *([plural(data.classes, "class", "classes")] if data.classes else []),
    ])


def audited(data: Data) -> str:
    """Say how many records were audited, and of how many."""
    part = (data.roles or {}).get("audited", data.records)
    return f"{part:,} of {data.records:,}" if part < data.records else count(data.records)


def own_training(recipe: Plain) -> str | None:
    """Name the function of the user's that made the models."""
    procedure = recipe.get("procedure")
    if not isinstance(procedure, Mapping) or procedure.get("method") != "function":
        return None
    return str(procedure.get("function"))


def used(recipe: Plain) -> Plain:
    """Leave out of a recipe what was not used, where the models were made by a function of the user's."""
    own = own_training(recipe)
    if own is None:
        return recipe
    procedure: Any = recipe["procedure"]
    return {"trained": f"by {own}", "source": procedure.get("source"), "output": recipe.get("output")}


def parts(recipe: Plain) -> list[tuple[str, str]]:
    """Name the parts of a recipe with their plain options; procedure and output only where they are not plain."""
    named = (
        ("Architecture", "architecture", None),
        ("Objective", "objective", None),
        ("Records chosen by", "sampler", "shuffle"),
        ("Trained by procedure", "procedure", "plain"),
        ("Answers changed by", "output", "none"),
    )
    return [(name, _part(recipe[key])) for name, key, usual in named if _method(recipe.get(key)) not in {None, usual}]


def _method(part: Any) -> Any:
    return part.get("method") if isinstance(part, Mapping) else part


def _part(part: Any) -> str:
    if not isinstance(part, Mapping):
        return str(part)
    return ", ".join([str(part.get("method")), *_options(part)])


def _options(part: Any) -> Iterator[str]:
    for name, value in part.items():
        if isinstance(value, Mapping) and "method" not in value:
            yield f"{name} ({', '.join(_options(value))})"
        elif isinstance(value, list) and value and all(isinstance(one, str) for one in value):
            yield f"{name} {' '.join(value)}"
        elif name != "method" and isinstance(_method(value), (str, int, float)):
            yield f"{name} {_method(value)}"


def repaired(population: Population) -> b.Values:
    """List what repairing and pruning procedures did in the models."""
    done = population.repair
    if done is None:
        return ()
    pptp: b.Values = () if done.pptp is None else (("PPTP", _pptp(done.pptp, population.models)),)
    cwrf: b.Values = () if done.cwrf is None else (("CWRF", _cwrf(done.cwrf)),)
    return pptp + cwrf + (() if done.sparsity is None else (("pruning", _pruned(done.sparsity)),))


def _pptp(told: PptpRepair, models: int) -> b.Values:
    said = [
        ("trained again from", _places(told.stages, models)),
        ("how it was chosen", "measured in each model" if told.chosen == "measured" else "given"),
        ("weights that stay", percent(told.share_frozen)),
    ]
    if told.effect is not None:
        low, mean, high = told.effect
        said.append(("first risky stage", _places(told.risky, models)))
        said.append(("effect there", f"{number(mean)} on average ({interval((low, high), number)}); no effect: 0.5"))
    if told.none_found:
        said.append(("no stage was risky", f"in {count(told.none_found)} of {plural(models, 'model')}"))
    return tuple(said)


def _places(stages: Mapping[str, int], models: int) -> str:
    places = [f"{name} in {count(many)} of {plural(models, 'model')}" for name, many in list(stages.items())[:PLACES]]
    left = len(stages) - PLACES
    return ", ".join(places + [plural(left, "other stage")] * (left > 0))


def _cwrf(told: CwrfRepair) -> b.Values:
    share = percent(told.rewound / told.weights, 2) if told.weights else "none"
    kinds = ((kind, f"{number(many, 0)} a model") for kind, many in told.kinds.items())
    return ("weights rewound", f"{number(told.rewound, 0)} of {count(told.weights)} ({share})"), *kinds


def _pruned(told: PrunedPopulation) -> b.Values:
    return (
        ("rounds", count(told.rounds)),
        ("weights left", _part_of(told.weights_left, told.weights)),
        ("of all parameters", _part_of(told.parameters_left, told.parameters)),
    )


def _part_of(part: float, whole: int) -> str:
    return f"{number(part, 0)} of {count(whole)} ({percent(part / whole)})"


def tree(plain: Mapping[str, Any]) -> b.Values:
    """List a recipe's or an attack's options, those of a part below its name."""
    return tuple(
        (name.replace("_", " "), tree(item) if isinstance(item, Mapping) and item else value(item))
        for name, item in plain.items()
    )


def value(item: Any) -> str:
    """Write any plain value."""
    if item is None:
        return "none"
    if isinstance(item, bool):
        return "yes" if item else "no"
    if isinstance(item, float):
        return f"{item:g}"
    if isinstance(item, (list, tuple)):
        return ", ".join(map(value, item)) or "none"
    if isinstance(item, Mapping):
        return ", ".join(f"{name.replace('_', ' ')} {value(part)}" for name, part in item.items())
    return str(item)


def values(found: Finding, *apart: str) -> b.Values:
    """List the fields that have a value, with their units."""
    return tuple(
        (_name(name), _told(name, item)) for name, item in found if name not in apart and item not in (None, (), "")
    )


def _told(name: str, item: Any) -> str | b.Values:
    if isinstance(item, Finding):
        return values(item)
    return tree(item) if isinstance(item, dict) else _fact(name, item)


def _name(name: str) -> str:
    words = NAMES.get(name, name.replace("_", " "))
    return f"time: {words.removeprefix('seconds ')}" if name.startswith("seconds_") else words


def _fact(name: str, item: Any) -> str:
    if name == "command":
        return shlex.join(["reticent", *item])
    if name.startswith("seconds_"):
        return duration(item)
    if name.endswith("_bytes"):
        return memory(item)
    return count(item) if name in COUNTED else value(item)
