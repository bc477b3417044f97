"""Which attacks to run, and with what options: the part of a configuration that needs no model."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reticent.attacks import ATTACKS
from reticent.errors import SpecError, UnknownNameError, nearest
from reticent.options import AttackConfig, several
from reticent.spec import Spec, read_toml


def usual() -> tuple[str, ...]:
    """Name the attacks that run where none is asked for."""
    return tuple(name for name, entry in ATTACKS.items() if entry.usual)


def build_attacks(config: AttackConfig, default: tuple[str, ...] | None = None) -> tuple[Spec, ...]:
    """Build the specs of the attacks that a configuration asks for."""
    for name in [*config.attacks, *config.attack]:
        if name not in ATTACKS:
            raise UnknownNameError("attack", name, ATTACKS)
    unnamed = usual() if default is None else default
    names = config.attacks or (*unnamed, *(name for name in config.attack if name not in unnamed))
    unused = sorted(set(config.attack) - set(names))
    if unused:
        raise SpecError(
            f"attack.{unused[0]}: options are given, but the attack is not among those to run: {', '.join(names)}"
        )
    if len(set(names)) != len(names):
        raise SpecError(f"attacks: expected each name once, got {', '.join(names)}")
    return tuple(ATTACKS[name].spec(**config.attack.get(name, {})) for name in names)


def gather_attacks(file: str | Path | None, values: Mapping[str, Any]) -> AttackConfig:
    """Put a configuration file and single values together, where nothing is trained; single values win."""
    tree: dict[str, Any] = read_toml(Path(file)) if file is not None else {}
    if values.get("attacks") and isinstance(tree.get("attack"), dict):
        asked = several(values["attacks"])
        tree["attack"] = {name: options for name, options in tree["attack"].items() if name in asked}
    for dotted, value in values.items():
        if value is None:
            continue
        *tables, last = dotted.split(".")
        inner = tree
        for table in tables:
            inner = inner.setdefault(table, {})
            if not isinstance(inner, dict):
                raise SpecError(f"{dotted}: {table} is a value, not a table")
        inner[last] = value
    for key in tree:
        if key not in AttackConfig.model_fields:
            raise SpecError(
                f"{f'{file}: ' if file else ''}unknown key {key!r}: {nearest(key, AttackConfig.model_fields)}; "
                "nothing is trained here, so that keys of training have no meaning"
            )
    return AttackConfig(**tree)
