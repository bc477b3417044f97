"""Who is compared: finished audits, recipes to train, or outputs that were brought; checked to pair.

A comparison is paired: the same records, the same membership, the same streams, the same attacks. What differs is how
the models were made, and nothing else, so that differences are not those of other splits.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from reticent.errors import InputError, SpecError, UnknownNameError
from reticent.jobs.comparison.finished import of_run
from reticent.jobs.comparison.for_all import ForAll, dotted
from reticent.jobs.comparison.pairing import RowSpec, check_pairs
from reticent.jobs.comparison.sources import (
    Defenses,
    Finished,
    Recipes,
    Source,
    check_defense,
    named,
    of_defenses,
    place,
)
from reticent.jobs.defenses import NONE
from reticent.options import ALL, SHORT, AttackConfig, AuditConfig, Options
from reticent.training.augmentation import usual
from reticent.training.recipe import Recipe

AUGMENTED = "augmented"
"""The row of the baseline with augmentation, each model stopped at its best validation loss."""
PATIENCE = 10
"""Epochs without a lower validation loss after which a model of that row stops."""
VALIDATION = 10
"""One record of so many is set aside for it, where the user does not say how many; at most half as many as are audited,
as each epoch asks about them all."""


def row_specs(
    runs: Sequence[str | Path | Finished],
    recipes: Recipes,
    values: Options,
    defenses: Defenses = (),
    *,
    augmented: bool = False,
) -> list[RowSpec]:
    """Prepare all who take part; trains nothing."""
    check_defense(values.get("defense"), alone=bool(defenses) or not (runs or recipes))
    every = ForAll(values)
    if augmented:
        every = _validated(every, bool(runs))
    sources = named(recipes)
    audited = [of_run(place(run), every) for run in runs]
    rows = of_defenses(defenses, [*sources, *(one.name for one in audited)])
    known = [*(one.name for one in audited), *sources, *rows]
    if augmented and AUGMENTED in known:
        raise InputError(f"augmented: a row is called {AUGMENTED!r} already: rename that folder or file")
    control = {AUGMENTED: _augmented(every)} if augmented else {}
    found = audited + _rows(every, sources | rows | control)
    others = [one for one in found if one.name not in control]
    if rows and NONE not in rows and all(one.defended or one.name in rows for one in others):
        if NONE in known:
            raise InputError(
                f"--defense is held against the undefended recipe, which is called {NONE!r}, as a defended run or "
                "recipe here is: rename that one's folder or file"
            )
        none, *made = _rows(every, {NONE: {"defense": NONE}} | sources | rows | control)
        found = [none, *audited, *made]
    if found and all(one.job is None for one in found):
        _refuse_training(key for key, value in values.items() if value is not None)
    if len(found) < 2:
        raise InputError(
            f"expected at least two runs or recipes to compare, got {len(found)}: give --defense NAME (it is held "
            "against no defense), --recipe FILE, or folders of audits; in Python defenses=[...], recipes={...}, or "
            "folders, as in reticent.compare('audit-a', 'audit-b')"
        )
    names = [one.name for one in found]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(
            f"two runs or recipes are called {twice[0]!r}: rename a folder or file, so that rows have names"
        )
    check_pairs(found)
    return found


def baseline_of(found: Sequence[RowSpec], name: str | None) -> RowSpec:
    """Choose the row that all others are held against: the named one, else the first, or the only undefended one."""
    if name is None:
        plain = [one for one in found if not one.defended]
        return plain[0] if found[0].defended and len(plain) == 1 else found[0]
    by_name = {one.name: one for one in found}
    if name not in by_name:
        error = UnknownNameError("baseline", name, by_name)
        hint = f"; the undefended recipe is a row where it is asked for, with --defense {NONE} (defenses=['{NONE}'])"
        raise error.retold(f"{error}{hint}") if name == NONE else error
    return by_name[name]


def _rows(every: ForAll, sources: Mapping[str, Source]) -> list[RowSpec]:
    """Prepare the rows of all recipes, with the roles of the one whose defense needs the most records."""
    made = {
        name: every.job(source, without=("augmentation",) if name == AUGMENTED else ())
        for name, source in sources.items()
    }
    most = max((len(job.population.roles.reference) for job in made.values()), default=0)
    for name, job in made.items():
        if job.config.reference is None and len(job.population.roles.reference) < most:
            made[name] = every.with_reference(job, most)
    # Where all attacks that fit are asked for, only those are compared by that fit every row.
    if any(ALL in job.config.attacks for job in made.values()):
        common = set.intersection(*({one.method for one in job.attacks} for job in made.values()))
        for name, job in made.items():
            made[name] = replace(job, attacks=tuple(one for one in job.attacks if one.method in common))
    return [RowSpec.of_job(name, job) for name, job in made.items()]


def _validated(every: ForAll, runs: bool) -> ForAll:
    """Set validation records aside for all rows, by which the augmented one is stopped."""
    if runs:
        raise InputError(
            "augmented: its models are stopped by validation records, which finished audits may lack: "
            "give recipes or defenses in place of folders (their models are found in the store)"
        )
    if every.values.get("validation"):
        return every
    job = every.job({"defense": NONE})
    audited = len(job.population.roles.audited)
    return every.saying({**every.values, "validation": min(len(job.records) // VALIDATION, audited // 2)})


def _augmented(every: ForAll) -> Source:
    """Make the recipe of the augmented control."""
    job = every.job({"defense": NONE})
    own = job.population.recipe.augmentation
    kind = usual(job.records.kind, job.records.x) if own == "none" else own
    return {"defense": NONE, "augmentation": kind, "patience": PATIENCE}


def _refuse_training(given: Iterable[str]) -> None:
    """Refuse what has no meaning where nothing is trained."""
    known = {*AuditConfig.model_fields, *Recipe.model_fields, *SHORT}
    for key in [dotted(key).split(".")[0] for key in given]:
        if key not in known:
            raise UnknownNameError("key", key, known)
        if key not in AttackConfig.model_fields:
            raise SpecError(
                f"{key}: all that is compared are outputs that were brought, of which nothing is trained here, so that "
                f"{key} would change nothing: leave it out"
            )
