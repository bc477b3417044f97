"""Which attacks to run, and with what options: the part of a configuration that needs no model."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from reticent.attacks import ATTACKS, parse
from reticent.errors import (
    InputError,
    Problems,
    ReticentError,
    SpecError,
    TooFewReferencesError,
    UnknownNameError,
)
from reticent.options import ALL, AttackConfig, AuditConfig
from reticent.say.audit import left_out
from reticent.spec import Spec, read_toml, several
from reticent.training.recipe import Recipe

NAMED = {"architecture", "objective", "sampler", "procedure", "output", "defense"}
"""Keys whose value is a name, or a table with a name and options."""


SETS: dict[str, tuple[Spec, ...]] = {
    "wemem": (
        *(parse(name) for name in ("confidence", "entropy", "modified-entropy")),
        parse({"method": "top1-confidence", "of": "label"}),
        *(parse(name) for name in ("samia", "nn", "nn-top3", "nn-cls")),
    )
}
"""Attacks by the name of a paper: the eight of WeMem's ten that could be established, with the options of its code."""
YARDSTICK = "loss"
"""The one attack of the default set that is not strong, where a strong one fits: what a model tells by itself."""


def usual() -> tuple[str, ...]:
    """Name the attacks of which those run that fit, where none is asked for; see `fitting`."""
    return tuple(name for name, entry in ATTACKS.items() if entry.usual)


def build_attacks(config: AttackConfig, default: tuple[str, ...] | None = None) -> tuple[Spec, ...]:
    """Build the specs of the attacks that a configuration asks for."""
    problems = Problems()
    for name in [*config.attacks, *config.attack]:
        with problems.here():
            if name not in {*ATTACKS, *SETS, ALL}:
                raise UnknownNameError("attack", name, [*ATTACKS, *SETS, ALL])
            if name in ATTACKS:
                ATTACKS[name].spec().replace(**config.attack.get(name, {}))
    problems.tell()
    named = tuple(ATTACKS) if config.every_attack else _members(config.attacks)
    unnamed = usual() if default is None else default
    names = named or (*unnamed, *(name for name in config.attack if name not in unnamed))
    unused = sorted(set(config.attack) - set(names))
    if unused:
        raise SpecError(
            f"attack.{unused[0]}: options are given, but the attack is not among those to run: {', '.join(names)}"
        )
    if len(set(names)) != len(names):
        raise SpecError(f"attacks: expected each name once, got {', '.join(names)}")
    preset = (
        {} if config.every_attack else {spec.method: spec for name in config.attacks for spec in SETS.get(name, ())}
    )
    specs = tuple(preset.get(name, ATTACKS[name].spec()).replace(**config.attack.get(name, {})) for name in names)
    for spec in specs:
        if ATTACKS[spec.method].needs(spec).own and len(specs) > 1:
            raise SpecError(
                f"{spec.method}: knows a half of a target's own members, as other attacks do not, so that it stands in "
                "no table with them: run it alone, or leave known out"
            )
    return specs


def _members(names: Sequence[str]) -> tuple[str, ...]:
    """Put attacks in the place of names of sets."""
    return tuple(one for name in names for one in ([spec.method for spec in SETS[name]] if name in SETS else [name]))


class _LongError(InputError):
    """An attack would take longer than all others together."""


def fitting(
    config: AttackConfig,
    specs: Sequence[Spec],
    check: Callable[[Spec], None],
    *unnamed: type[ReticentError],
    answers: int,
) -> tuple[tuple[Spec, ...], dict[str, str]]:
    """Keep the attacks that pass a check, and say why others do not, where all that fit, or a set, are asked for.

    Where no attack is named, those that fail it by the errors `unnamed` are left out too; of those that are not strong,
    all but the `YARDSTICK` are, unsaid, where a strong one fits. Each attack more would widen the verdict's intervals.
    Nor does one run unnamed that takes long for so many answers (targets times records).
    """
    several = config.every_attack or not SETS.keys().isdisjoint(config.attacks)
    over = (ReticentError,) if several else () if config.attacks else unnamed
    left: tuple[type[ReticentError], ...] = (*over, _LongError)
    kept: list[Spec] = []
    why: dict[str, Exception] = {}
    for spec in specs:
        try:
            check(spec)
            if not config.attacks and spec.method not in config.attack:
                _check_time(spec, answers)
        except left as error:
            why[spec.method] = error
        else:
            kept.append(spec)
    if not config.attacks and _any_strong(kept):
        wanted = {YARDSTICK, *config.attack}
        kept = [spec for spec in kept if ATTACKS[spec.method].strong or spec.method in wanted]
    return tuple(kept), left_out(why)


def _check_time(spec: Spec, answers: int) -> None:
    most = ATTACKS[spec.method].most
    if most is not None and answers > most:
        raise _LongError(
            f"{spec.method}: it judges every answer by itself, which takes long for {answers:,} of them (targets "
            f"times records): name it (--attack {spec.method}) to run it, with fewer targets or records"
        )


def before_training(
    config: AttackConfig, specs: Sequence[Spec], check: Callable[[Spec], None], *, answers: int
) -> tuple[tuple[Spec, ...], dict[str, str]]:
    """Keep the attacks that will fit the models to be trained; where none is named, a strong one must."""
    kept, why = fitting(config, specs, check, TooFewReferencesError, answers=answers)
    if not (config.attacks or _any_strong(kept)):
        for spec in specs:
            check(spec)
    return kept, why


def _any_strong(specs: Sequence[Spec]) -> bool:
    return any(ATTACKS[spec.method].strong for spec in specs)


def gather_attacks(file: str | Path | None, values: Mapping[str, Any]) -> AttackConfig:
    """Put a configuration file and single values together, where nothing is trained; single values win."""
    tree = {} if file is None else of_attacks(read_toml(Path(file)), values)
    for dotted, value in values.items():
        if value is not None:
            put(tree, dotted.split("."), value)
    problems, known = Problems(), AttackConfig.model_fields
    unknown = [key for key in tree if key not in known]
    with problems.here(f"{file}: " if file else ""):
        for key in unknown:
            if key in AuditConfig.model_fields or key in Recipe.model_fields:
                raise SpecError(f"{key}: nothing is trained here, so that it would change nothing: leave it out")
            raise UnknownNameError("key", key, known)
    with problems.here():
        config = AttackConfig(**{key: value for key, value in tree.items() if key in known})
    problems.tell()
    return config


def of_attacks(tree: dict[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out the options that a file gives to attacks which it would run, and this call does not."""
    tables, asked = tree.get("attack"), several(values.get("attacks"))
    if not asked or ALL in asked or not isinstance(tables, dict):
        return tree
    run = _members(asked)
    return tree | {"attack": {name: tables[name] for name in tables if name in run or name not in ATTACKS}}


def put(tree: dict[str, Any], path: Sequence[str], value: Any) -> None:
    """Put a value into a tree of tables; a method given by name becomes a table, and another one loses its options."""
    *tables, last = path
    for table in tables:
        inner = tree.setdefault(table, {})
        if isinstance(inner, str) and table in NAMED:
            inner = tree[table] = {"name": inner}
        if not isinstance(inner, dict):
            raise SpecError(f"{'.'.join(path)}: {table} is a value, not a table")
        tree = inner
    if last == "name" and tables[-1:] and tables[-1] in NAMED and tree.get("name", value) != value:
        tree.clear()
    tree[last] = value
