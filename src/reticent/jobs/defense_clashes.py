"""Which defenses go together: found by asking the check that refuses, at the defaults and at each option's ends."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import combinations
from typing import Any, get_args

from annotated_types import Ge
from pydantic.fields import FieldInfo

from reticent.errors import MissingExtraError, SpecError
from reticent.findings.clash import Clash
from reticent.procedures.recipe_checks import check
from reticent.spec import Spec, choices
from reticent.training.recipe import Recipe


def clashes(usual: Mapping[str, Spec], parts: Mapping[str, str]) -> dict[str, dict[str, Clash]]:
    """Try every two defenses of different parts together, and note which are refused, and with which options.

    Beside the defaults of both, every option is tried by itself that is a choice, a switch or a whole number, the last
    at its smallest value; what is refused for one defense alone says nothing of the two.
    """
    changed = {name: [one for one in _changed(usual[name]) if _goes({parts[name]: one[2]})] for name in parts}
    refused: dict[str, dict[str, Clash]] = {name: {} for name in parts}
    for pair in combinations(parts, 2):
        if parts[pair[0]] == parts[pair[1]]:
            continue
        both = {parts[name]: usual[name] for name in pair}
        goes = _goes(both)
        turned: dict[str, list[str]] = {}
        for name in pair:
            for option, value, spec in changed[name]:
                if _goes({**both, parts[name]: spec}) != goes:
                    turned.setdefault(f"{name}:{option}", []).append(value)
        if not goes or turned:
            when = " or ".join(f"{option}={' or '.join(values)}" for option, values in turned.items())
            refused[pair[0]][pair[1]] = refused[pair[1]][pair[0]] = Clash(goes, when)
    return refused


def _goes(specs: Mapping[str, Spec]) -> bool:
    """Ask the check; what has meaning does not depend on what is installed."""
    try:
        check(Recipe().replace(**specs), reference=2)
    except MissingExtraError:
        return True
    except SpecError:
        return False
    return True


def _changed(spec: Spec) -> Iterator[tuple[str, str, Spec]]:
    """Change one option at a time."""
    for option, field in type(spec).model_fields.items():
        for value in _values(field):
            with suppress(SpecError):
                if value != getattr(spec, option):
                    told = str(value).lower() if isinstance(value, bool) else str(value)
                    yield option, told, spec.replace(**{option: value})


def _values(field: FieldInfo) -> list[Any]:
    """List what an option is tried at: every word or switch, and the lowest whole number, inside a union too."""
    if field.annotation is bool:
        return [False, True]
    inside = [one for part in get_args(field.annotation) for one in getattr(part, "__metadata__", ())]
    bounds = [one.ge for one in (*field.metadata, *inside) if isinstance(one, Ge)]
    return [*choices(field.annotation), *(bound for bound in bounds if isinstance(bound, int))]
