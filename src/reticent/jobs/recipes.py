"""A recipe from names and options, looked up in the tables of methods."""

from collections.abc import Iterable, Mapping
from typing import Any

from reticent import usercode
from reticent.errors import Problems, SpecError, UnknownNameError
from reticent.jobs.defenses import PARTS, Entries
from reticent.models import ARCHITECTURES
from reticent.models.base import ArchitectureEntry
from reticent.models.user import Factory
from reticent.objectives import OBJECTIVES
from reticent.options import AttackConfig, Options
from reticent.procedures.basic import BASIC
from reticent.procedures.dpsgd import DPSGD, usual_delta
from reticent.procedures.user import Function
from reticent.spec import Spec
from reticent.training.recipe import Recipe

Table = Mapping[str, ArchitectureEntry] | Entries
METHODS: dict[str, Table] = {"architecture": ARCHITECTURES, **PARTS}
OF_YOURS = {Factory.method, Function.method}
"""Entries that stand for code of the user's, which is asked for by its own name."""


def build_recipe(suggested: Options, given: Options, dataset: str = "") -> Recipe:
    """Build a recipe from names and options, looked up in the tables; what is wrong is told at once.

    An objective whose authors give options for this data set has them, unless the user gives them.
    """
    merged: Options = {**suggested, **given}
    if "objective" in merged:
        options = _table(merged["objective"])
        network = str(_table(merged.get("architecture", {})).get("name"))
        merged["objective"] = {**published(options, dataset, network), **options}
    problems = Problems()
    for part, table in METHODS.items():
        if part in merged:
            usual = _table(suggested.get(part, {}))
            options = _table(merged.pop(part))
            same = options.get("name", usual.get("name")) == usual.get("name")
            with problems.here():
                merged[part] = _method(part, table, {**usual, **options} if same else options)
    with problems.here():
        recipe = Recipe(**merged)
    problems.tell()
    return recipe


def published(given: Options, dataset: str, architecture: str) -> dict[str, float]:
    """Find the options that an objective's authors give for a data set and a network on it."""
    known = OBJECTIVES[given["name"]].published if given.get("name") in OBJECTIVES else {}
    found = dict(known.get(dataset, {}))
    for part in (architecture, *(f"{key}={value}" for key, value in given.items())):
        found |= known.get(f"{dataset}/{part}", {})
    return found


def at_delta(recipe: Recipe, config: AttackConfig, members: Iterable[int]) -> Recipe:
    """Give DP-SGD the delta of the bounds where it has none, so that both speak of one promise."""
    given, stage, sizes = config.delta, recipe.procedure, [int(many) for many in members]
    if "delta" not in config.model_fields_set or not isinstance(stage, DPSGD):
        return recipe
    if stage.delta is not None or stage.noise == 0 or all(usual_delta(many) == given for many in sizes):
        return recipe
    if given == 0 or given * max(sizes) >= 1:
        raise SpecError(
            "delta: that of the bounds is also that of the epsilon which dpsgd keeps: expected more than 0, and less "
            f"than {1 / max(sizes):.3g} = 1 / members, or one of its own for dpsgd (dpsgd:delta=1e-5), got {given:g}"
        )
    return recipe.replace(procedure=stage.replace(delta=given))


def _table(value: Any) -> Options:
    """Read a method given as a name, or as a table with a name and options."""
    return dict(value) if isinstance(value, Mapping) else {"name": value}


def _method(part: str, table: Table, options: Options) -> Spec:
    rest = dict(options)
    name = rest.pop("name", None)
    if "inner" in rest and part == "procedure":
        rest["inner"] = _method("procedure.inner", BASIC, _table(rest["inner"]))
    if not isinstance(name, str):
        raise SpecError(f"{part}: expected a name, or a table with a name, got {options!r}")
    if usercode.is_import_string(name):
        if part == "architecture":
            return Factory(factory=name, **rest).resolve()
        if part == "procedure":
            return Function(function=name, **rest).resolve()
    if name not in table:
        hint = " (or module:name of your own)" if part in {"architecture", "procedure"} else ""
        raise UnknownNameError(part + hint, name, set(table) - OF_YOURS)
    spec: Spec = table[name].spec(**rest)
    return spec.resolve() if isinstance(spec, (Factory, Function)) else spec
