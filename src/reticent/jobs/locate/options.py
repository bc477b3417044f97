"""What the commands of ``locate`` that train models take of a configuration, and what means nothing to them."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from reticent.errors import SpecError
from reticent.options import AuditConfig
from reticent.report.output import Form, Output

ATTACKING = (
    "attacks",
    "attack",
    "control",
    "also_non_adaptive",
    "delta",
    "promised_epsilon",
    "group_by",
    "population",
    "format",
)
"""Keys of an audit's attacks and of its report."""


def divided(values: Mapping[str, Any], own: Iterable[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Tell a command's own options from the keys of a configuration."""
    heads, tree = set(own), dict[str, Any]()
    rest: dict[str, Any] = {}
    for key, value in values.items():
        first, *inner = key.replace("__", ".").split(".")
        if first not in heads:
            rest[key] = value
        else:
            table = tree
            for name in [first, *inner][:-1]:
                table = table.setdefault(name, {})
                if not isinstance(table, dict):
                    raise SpecError(f"{key}: {name} is a value, not a table")
            table[[first, *inner][-1]] = value
    return tree, rest


def refuse(values: Mapping[str, Any], command: str, keys: Iterable[str]) -> None:
    """Refuse what a command would not heed; a file may hold it, since it may be that of an audit."""
    meaningless = set(keys)
    for key, value in values.items():
        if value is not None and key.replace("__", ".").split(".")[0] in meaningless:
            raise SpecError(f"{key}: means nothing to reticent {command}: leave it out")


def taken(
    config: AuditConfig,
    usual: str,
    form: Form,
    inputs: Iterable[Any] = (),
    checked: Callable[[Path], None] | None = None,
) -> Output:
    """Take the folder of a report: the one that is asked for, or the command's own."""
    out = Output.take(Path(config.out if "out" in config.model_fields_set else usual), form, inputs)
    if checked is not None:
        checked(out.folder)
    return out
