"""Frozen specs: what a user may choose, as checked values with one canonical text and one identity.

A spec holds public facts only: never data, generators or paths of results. Its canonical form leaves out what equals
the default, so a new field with a default that does nothing changes no identity that exists.
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, model_validator

from reticent import user_files
from reticent.errors import MissingFileError, SpecError, nearest

FORMAT = 2
"""Version of the formats behind identities; raising it forgets every finished run."""


def several(names: Any) -> Any:
    """Turn a single name into a tuple of one."""
    return (names,) if isinstance(names, str) else names


Names = Annotated[tuple[str, ...], BeforeValidator(several)]
"""Names, of which one may be given as it is."""
RARELY = "rarely"
"""Marks an option that most runs do not need: its flag stands in the full help alone."""


class Spec(BaseModel):
    """Base of every spec: frozen, strict, hashable; unknown fields are errors that give the nearest name."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,
        validate_default=True,
    )

    method: ClassVar[str] = ""
    """The name of the method that this spec belongs to; empty for specs that are not methods."""

    def __init__(self, **data: Any) -> None:
        try:
            super().__init__(**data)
        except ValidationError as error:
            found = _alternatives(error.errors(include_url=False))
            raise SpecError(_explain(type(self), found), _keys(type(self), found)) from None

    @model_validator(mode="before")
    @classmethod
    def _tuples(cls, data: Any) -> Any:
        """Take lists, which TOML and JSON give, where a tuple is declared."""
        if isinstance(data, dict):
            return {key: _to_tuple(value) for key, value in data.items()}
        return data

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some fields changed, checked again; what was not given counts as not given there too."""
        return type(self)(**{name: getattr(self, name) for name in self.model_fields_set} | changes)

    def implied(self) -> Mapping[str, float]:
        """Return what options mean that are left out, where the default only says that they are (None)."""
        return {}


def _to_tuple(value: Any) -> Any:
    return tuple(_to_tuple(item) for item in value) if isinstance(value, list) else value


def written(value: Any, deepest: int = 3) -> str:
    """Write a value for an error message as the user wrote it, in TOML or after a flag; lists to a depth."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(written(one, deepest - 1) for one in value) if deepest or not value else '...'}]"
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _keys(spec: type[Spec], found: Sequence[Any]) -> list[str]:
    """List the keys that errors are about, below the name of their method."""
    places = (item["loc"] for item in found if item["loc"])
    return [".".join(map(str, (spec.method, *place) if spec.method else place)) for place in places]


def _explain(spec: type[Spec], found: Sequence[Any]) -> str:
    title = f"{spec.method}: " if spec.method else ""
    lines = []
    for item in found:
        path = ".".join(str(part) for part in item["loc"])
        if item["type"] == "extra_forbidden":
            lines.append(f"{title}unknown key {path!r}: {nearest(path, spec.model_fields)}")
        elif item["type"] == "missing":
            lines.append(f"{title}{path} must be given{_meaning(spec, path)}")
        else:
            message = expected(item)
            message = _list(spec, path) if item["type"] == "tuple_type" else message
            # What is wrong of several options together has no path, and its input is all of them.
            lines.append(
                f"{title}{path}: expected {message}, got {written(item['input'])}"
                if path
                else f"{title}expected {message}"
            )
    return "\n".join(lines)


def _meaning(spec: type[Spec], path: str) -> str:
    """Say what an option of a spec is, in its own words; nothing of one that lies deeper, or has none."""
    known = spec.model_fields.get(path)
    told = " ".join(known.description.split()).rstrip(".") if known is not None and known.description else ""
    return f": {told[:1].lower()}{told[1:]}" if told else ""


def _alternatives(errors: Sequence[Any]) -> list[Any]:
    """Join what is wrong with one value by each of the types that it may have, which pydantic tells one by one."""
    found: list[Any] = []
    for item in errors:
        head = item["loc"][:1]
        before = found[-1] if found and found[-1]["loc"][:1] == head and len(item["loc"]) > 1 else None
        apart = item["type"] in {"missing", "extra_forbidden"} or any(isinstance(part, int) for part in item["loc"])
        if before is None or apart or before["input"] is not item["input"]:
            found.append(item)
            continue
        told = dict.fromkeys(map(expected, (before, item)))
        found[-1] = {**before, "loc": head, "type": "union", "msg": ", or ".join(told)}
    return found


EXPECTED = {
    "a valid number": "a number",
    "a valid integer": "a whole number",
    "a valid string": "text",
    "a valid array": "a list",
    "a valid dictionary": "a table",
    "a valid boolean": "true or false",
}
"""pydantic's names of what is expected -> what a user calls it."""
LENGTHS = {"too_short": ("at least", "min_length"), "too_long": ("at most", "max_length")}
"""pydantic's types of errors about how many values there are."""
LONGEST = 60
"""Characters of a value that a message shows."""


def expected(error: Any) -> str:
    """Say what one of pydantic's errors expected."""
    if error["type"] in LENGTHS:
        side, key = LENGTHS[error["type"]]
        number = error["ctx"][key]
        return f"{side} {number} value{'s' * (number != 1)}"
    told = str(error["msg"]).removeprefix("Value error, ").removeprefix("Input should be ").removeprefix("expected ")
    for name, plain in EXPECTED.items():
        told = told.replace(name, plain)
    return told


def choices(annotation: Any) -> list[Any]:
    """List the words that an option may be."""
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    return [word for part in get_args(annotation) if not isinstance(part, str) for word in choices(part)]


def _list(spec: type[Spec], path: str) -> str:
    """Say that a list is expected, and how one is written."""
    field = spec.model_fields.get(path)
    usual = None if field is None else field.get_default(call_default_factory=True)
    return f"a list, such as {written(usual)}" if isinstance(usual, tuple) and usual else "a list"


def canonical(value: Any) -> Any:
    """Bring a spec, or a value inside one, into plain JSON values; fields that equal their default are left out."""
    if isinstance(value, Spec):
        implied, chosen = value.implied(), {}
        for name, field in type(value).model_fields.items():
            default = field.get_default(call_default_factory=True)
            if getattr(value, name) not in (default, implied.get(name, default)):
                chosen[name] = getattr(value, name)
        body = {name: canonical(item) for name, item in chosen.items()}
        return {"method": value.method, **body} if value.method else body
    if isinstance(value, Mapping):
        return {str(key): canonical(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [canonical(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def full(value: Any) -> Any:
    """Like `canonical`, with the defaults written out, for reports."""
    if isinstance(value, Spec):
        body = {name: full(getattr(value, name)) for name in type(value).model_fields}
        return {"method": value.method, **body} if value.method else body
    if isinstance(value, (list, tuple)):
        return [full(item) for item in value]
    return canonical(value)


def text(value: Any) -> str:
    """Write plain JSON values in the one way that identities are made from."""
    return json.dumps(canonical(value), sort_keys=True, separators=(",", ":"), allow_nan=False)


def identity(value: Any) -> str:
    """Name a value by the hash of its canonical text and the format version."""
    return hashlib.sha256(f"{FORMAT}\n{text(value)}".encode()).hexdigest()[:20]


BARE = re.compile(r"[+-]?([0-9]+\.|\.[0-9]+)")
"""Numbers that shells, Python and C know, and TOML does not."""


def toml_or_text(text: str) -> Any:
    """Read a value as TOML, with `.5` and `5.` as numbers, or else as a text."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        return float(text) if BARE.fullmatch(text.strip()) else text.strip()


def as_toml(value: Any) -> str:
    """Write a value as `toml_or_text` reads it: a text as it is, unless it would be read as something else."""
    if isinstance(value, str):
        return value if toml_or_text(value) == value else json.dumps(value)
    if isinstance(value, (list, tuple)):
        return f"[{','.join(json.dumps(one) if isinstance(one, str) else as_toml(one) for one in value)}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


WRITE_TOML = "give a text file with lines such as epochs = 20"
"""What to do where something else is given as TOML."""


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file."""
    try:
        return tomllib.loads(user_files.text(user_files.path(path), "a TOML file, which is a text", WRITE_TOML))
    except FileNotFoundError:
        raise MissingFileError(f"no configuration file {str(path)!r}") from None
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f'{path}: not a TOML file: {error} (text needs quotes: dataset = "digits")') from None
    except (ValueError, RecursionError):
        raise SpecError(f"{path}: {user_files.TOO_MUCH}") from None
    except OSError as error:
        raise SpecError(f"{path}: cannot be read: {error.strerror}") from None
