"""Which attacks to run, and with what options: the part of a configuration that needs no model."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt, Lt
from pydantic import Field, model_validator

from reticent.attacks import ATTACKS
from reticent.errors import SpecError, UnknownNameError, nearest
from reticent.spec import Spec, read_toml

Options = dict[str, Any]


class AttackConfig(Spec):
    """What a user may say of attacks and of the audit of their scores."""

    attacks: tuple[str, ...] = ()
    """Which attacks to run; by default all but variants that only reproduce released code (lira-released), and those
    that need models of one defense (selena-replica)."""
    attack: dict[str, Options] = Field(default_factory=dict)
    """Options of attacks, one table a name: ``[attack.lira]``."""
    seed: Annotated[int, Ge(0)] = 0
    """The master seed: who trains on what, every model's streams, the bootstrap."""
    replicates: Annotated[int, Ge(100)] = 1000
    """Bootstrap replicates behind the intervals over models."""
    confidence: Annotated[float, Gt(0.5), Lt(1)] = 0.95
    """Level of every interval."""
    delta: Annotated[float, Ge(0), Lt(1)] = 1e-5
    """Delta of the lower bounds on epsilon; also of the epsilon that dpsgd keeps, where it has no delta of its own."""
    promised_epsilon: Annotated[float, Ge(0)] | None = None
    """The epsilon, at `delta`, that you say the training keeps; shown beside the bound from below, as stated."""
    control: Literal["none", "null"] = "none"
    """null repeats the audit with permuted membership, where there is nothing to find."""
    format: Literal["html", "md"] = "html"
    """md writes report.md too, a section of a model card."""
    group_by: tuple[str, ...] = ()
    """Columns of the data whose groups of records are compared, beside the classes, which always are."""

    @model_validator(mode="before")
    @classmethod
    def _one_name(cls, data: Any) -> Any:
        """Take a single name where several may be given."""
        if isinstance(data, dict):
            return data | {key: several(data[key]) for key in NAMES if key in data}
        return data


NAMES = ("attacks", "group_by")
"""Keys that hold names, of which one may be given as it is."""


def several(names: Any) -> Any:
    """Turn a single name into a tuple of one."""
    return (names,) if isinstance(names, str) else names


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
