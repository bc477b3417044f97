"""The limits of a gate, as a frozen spec: the same from flags, a TOML file and Python."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field, field_validator, model_validator

from reticent.errors import InputError, SpecError, about, nearest
from reticent.findings.gate import ALLOWED, Doubt
from reticent.spec import Spec, read_toml

Pair = tuple[float, float]


class Limits(Spec):
    """What a gate holds an audit against; at least one limit is given."""

    method: ClassVar[str] = "gate"

    max_auc: Annotated[float, Field(ge=0.5, le=1)] | None = None
    """Highest AUC that passes; chance is 0.5."""
    max_tpr: tuple[Pair, ...] = ()
    """Highest TPR that passes at a false-positive rate, as 0.02@0.01."""
    max_epsilon: Annotated[float, Field(ge=0)] | None = None
    """Highest epsilon that passes, as 3, or 3@1e-5 with its delta."""
    delta: Annotated[float, Field(ge=0, lt=1)] | None = None
    """The delta of `max_epsilon`; by default that of the audit."""
    min_accuracy: Annotated[float, Field(ge=0, le=1)] | None = None
    """Lowest mean accuracy on non-members that passes: a broken model leaks nothing."""
    max_group_auc: Annotated[float, Field(ge=0.5, le=1)] | None = None
    """Highest AUC of a group of records that passes."""
    max_group_tpr: Annotated[float, Field(gt=0, le=1)] | None = None
    """Highest TPR of a group of records that passes, at the false-positive rate of the audit's groups."""
    allow: tuple[Doubt, ...] = ()
    """Doubts that don't keep a check from passing: not-measurable, ties, weak-attacks, few-models, no-accountant,
    records-differ, low-confidence, did-not-learn or copies."""

    @model_validator(mode="before")
    @classmethod
    def _epsilon_at_delta(cls, data: Any) -> Any:
        """Take ``max_epsilon = "3@1e-5"`` apart."""
        if isinstance(data, dict) and isinstance(data.get("max_epsilon"), str):
            epsilon, at, delta = data["max_epsilon"].partition("@")
            parts = {"max_epsilon": _number("max_epsilon", epsilon, "such as 3 or 3@1e-5")}
            return data | parts | ({"delta": _number("max_epsilon", delta, "such as 3@1e-5")} if at else {})
        return data

    @field_validator("max_tpr", mode="before")
    @classmethod
    def _pairs(cls, value: Any) -> Any:
        if isinstance(value, Mapping):
            if any(isinstance(limit, Mapping) for limit in value.values()):
                raise SpecError('gate: max_tpr: write the rate in quotes: max_tpr = {"0.01" = 0.02}')
            value = tuple((_number("max_tpr", rate, "such as 0.01"), limit) for rate, limit in value.items())
        elif isinstance(value, str):
            value = (value,)
        items = value if isinstance(value, tuple) else (value,)
        if not all(isinstance(item, str) or (isinstance(item, tuple) and len(item) == 2) for item in items):
            raise ValueError('limits by false-positive rate, such as "0.02@0.01" or {"0.01": 0.02}')
        return tuple(tpr_at(item) if isinstance(item, str) else item for item in items)

    @field_validator("max_tpr", mode="after")
    @classmethod
    def _above_chance(cls, value: tuple[Pair, ...]) -> tuple[Pair, ...]:
        for rate, limit in value:
            if not 0 < rate <= 1 or not 0 < limit <= 1:
                raise ValueError(f"rates above 0 and up to 1, not {limit:g}@{rate:g}")
            if limit < rate:
                raise ValueError(
                    f"a TPR of at least the false-positive rate, which guessing reaches: TPR@FPR such as 0.02@0.01, "
                    f"not {limit:g}@{rate:g}"
                )
        if len({rate for rate, _ in value}) != len(value):
            raise ValueError("one limit a false-positive rate")
        return tuple(sorted(value, reverse=True))

    @field_validator("allow", mode="before")
    @classmethod
    def _known(cls, value: Any) -> Any:
        if not isinstance(value, tuple):
            return value
        for name in value:
            if name not in ALLOWED:
                raise ValueError(f"a doubt that can be allowed: {nearest(str(name), [one.value for one in ALLOWED])}")
        return tuple(sorted({Doubt(name) for name in value}))

    @property
    def given(self) -> bool:
        """Whether there is anything to hold an audit against."""
        fields = type(self).model_fields.keys() - {"delta", "allow"}
        return any(getattr(self, name) not in {None, ()} for name in fields)


def tpr_at(text: str) -> Pair:
    """Read ``0.02@0.01``: a TPR of at most 0.02 at a false-positive rate of 0.01."""
    limit, _, rate = text.partition("@")
    example = "TPR@FPR such as 0.02@0.01"
    return _number("max_tpr", rate, example, text), _number("max_tpr", limit, example, text)


def _number(name: str, value: Any, example: str, whole: str | None = None) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise SpecError(f"{name}: expected {example}, got {value if whole is None else whole!r}") from None


def gather(file: Any, values: Mapping[str, Any]) -> Limits:
    """Put the ``[gate]`` table of a TOML file and single values together; single values win.

    A value of `max_tpr` wins over the file's for the same false-positive rate; what either allows is allowed.
    """
    given = {key: value for key, value in values.items() if value is not None and not _empty(value)}
    single = Limits(**given)
    limits = single if file is None else _over(_table(file), single, given)
    if not limits.given:
        raise InputError(
            "there is nothing to judge: give a limit, such as --max-auc 0.6, --max-tpr 0.02@0.01, --max-epsilon 3, "
            "--min-accuracy 0.8, --max-group-auc 0.65 or --max-group-tpr 0.05, or --thresholds FILE with a [gate] table"
        )
    if limits.delta is not None and limits.max_epsilon is None:
        raise InputError("delta: it belongs to --max-epsilon, which is not given")
    return limits


def _empty(value: Any) -> bool:
    return isinstance(value, (list, tuple, Mapping)) and not value


def _over(file: Limits, single: Limits, given: Mapping[str, Any]) -> Limits:
    """Lay single values over a file's."""
    changes = {name: getattr(single, name) for name in single.model_fields_set}
    if "max_tpr" in given:
        changes["max_tpr"] = tuple((dict(file.max_tpr) | dict(single.max_tpr)).items())
    if "max_epsilon" in given:
        changes["delta"] = single.delta
    return file.replace(**changes | {"allow": tuple({*file.allow, *single.allow})})


def _table(file: Any) -> Limits:
    tree = read_toml(file)
    for key in tree:
        if key != "gate":
            hint = "it belongs into a [gate] table" if key in Limits.model_fields else nearest(key, ["gate"])
            raise SpecError(f"{file}: unknown key {key!r}: {hint}")
    table = tree.get("gate", {})
    if not isinstance(table, dict):
        raise SpecError(f"{file}: expected a table [gate], got gate = {table!r}")
    with about(str(file)):
        return Limits(**table)
