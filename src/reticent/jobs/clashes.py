"""Which defenses go together: found by asking the check that refuses, at the defaults and at each option's ends."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

from annotated_types import Ge
from pydantic.fields import FieldInfo

from reticent.errors import MissingExtraError, SpecError
from reticent.procedures.check import check
from reticent.spec import Spec, choices
from reticent.training.recipe import Recipe

Table = Mapping[str, Any]


def clashes(tables: Mapping[str, Table], parts: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Try every two defenses of different parts together, and note which are refused, and with which options.

    Beside the defaults of both, every option is tried by itself that is a choice, a switch or a whole number, the last
    at its smallest value; what is refused for one defense alone says nothing of the two.
    """
    usual = {name: tables[part][name].spec() for name, part in parts.items()}
    changed = {
        name: [(option, value, spec) for option, value, spec in _changed(usual[name]) if _goes({parts[name]: spec})]
        for name in parts
    }
    refused: dict[str, dict[str, str]] = {name: {} for name in parts}
    for one, other in combinations(parts, 2):
        if parts[one] == parts[other]:
            continue
        both = {parts[name]: usual[name] for name in (one, other)}
        goes = _goes(both)
        turned: dict[str, list[str]] = {}
        for name in (one, other):
            for option, value, spec in changed[name]:
                if _goes({**both, parts[name]: spec}) != goes:
                    turned.setdefault(f"{name}:{option}", []).append(value)
        if not goes or turned:
            when = ", or ".join(f"{option}={' or '.join(values)}" for option, values in turned.items())
            word = "with" if goes else "unless"
            refused[one][other] = refused[other][one] = f"{word} {when}" if when else ""
    return refused


def _goes(specs: Mapping[str, Any]) -> bool:
    """Ask the check; what has meaning does not depend on what is installed."""
    try:
        check(Recipe(**specs), reference=2)
    except SpecError:
        return False
    except MissingExtraError:
        return True
    return True


def _changed(spec: Spec) -> Iterator[tuple[str, str, Spec]]:
    """Change one option at a time."""
    for option, field in type(spec).model_fields.items():
        for value in _values(field):
            if value == getattr(spec, option):
                continue
            try:
                yield (
                    option,
                    str(value).lower() if isinstance(value, bool) else str(value),
                    spec.replace(**{option: value}),
                )
            except SpecError:
                continue


def _values(field: FieldInfo) -> list[Any]:
    """List what an option is tried at."""
    words: list[Any] = list(choices(field.annotation))
    if field.annotation is bool:
        return [False, True]
    lowest = [one.ge for one in _bounds(field) if isinstance(one.ge, int)]
    return words + lowest


def _bounds(field: FieldInfo) -> list[Ge]:
    """Find lower bounds, those inside a union too."""
    inside = [one for part in getattr(field.annotation, "__args__", ()) for one in getattr(part, "__metadata__", ())]
    return [one for one in (*field.metadata, *inside) if isinstance(one, Ge)]
