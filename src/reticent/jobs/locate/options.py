"""What the commands of ``locate`` that train models take of a configuration, and what means nothing to them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from reticent.errors import SpecError
from reticent.jobs.attacks import put
from reticent.options import SILENT, AuditConfig, Options
from reticent.report.output import Form, Output


def divided(values: Options, own: Iterable[str]) -> tuple[Options, Options]:
    """Tell a command's own options, as a tree, from the keys of a configuration."""
    heads, tree, rest = set(own), Options(), Options()
    for key, value in values.items():
        path = key.replace("__", ".").split(".")
        if path[0] in heads:
            put(tree, path, value)
        else:
            rest[key] = value
    return tree, rest


def refuse(values: Options, command: str, models: str = "") -> None:
    """Refuse what a command would not heed; a file may hold it, since it may be that of an audit.

    `models` says how many models the command trains, and what to give in place of their number.
    """
    for key, value in values.items():
        if value is not None and key.replace("__", ".").split(".")[0] in SILENT[command]:
            told = f", {models}" if key == "models" else ": leave it out"
            raise SpecError(f"{key}: means nothing to reticent {command}{told}", [key])


def taken(config: AuditConfig, usual: str, form: Form, inputs: Iterable[Any] = ()) -> Output:
    """Take the folder of a report, the one that is asked for or the command's own; it is not begun yet."""
    return Output.checked(Path(config.out if "out" in config.model_fields_set else usual), form, inputs)
