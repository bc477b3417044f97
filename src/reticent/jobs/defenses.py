"""Defenses by name: what a user calls a recipe that is not plain cross-entropy, and the parts that it stands for.

A defense is an objective, a sampler, a procedure, an output defense, or several of them joined by ``+``, each with its
options: ``relaxloss``, ``dpsgd:epsilon=8``, ``selena:models=10,outside=4+relaxloss``. The four tables are all there is
to know.
Two procedures go together where one of them has a second stage that the other can be: ``cwrf+dpsgd:epsilon=8``.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from pydantic.fields import FieldInfo

from reticent import usercode
from reticent.errors import SpecError, UnknownNameError, nearest
from reticent.findings.clash import Clash
from reticent.jobs.defense_clashes import clashes
from reticent.objectives import OBJECTIVES, ObjectiveEntry
from reticent.options import Options, described, with_options
from reticent.outputs import OUTPUTS, OutputEntry
from reticent.procedures import PROCEDURES, ProcedureEntry
from reticent.samplers import SAMPLERS, SamplerEntry
from reticent.say.grammar import listed
from reticent.spec import toml_or_text
from reticent.training.recipe import Recipe

NONE = "none"
Entries = Mapping[str, ObjectiveEntry | SamplerEntry | ProcedureEntry | OutputEntry]
PARTS: dict[str, Entries] = {
    "objective": OBJECTIVES,
    "sampler": SAMPLERS,
    "procedure": PROCEDURES,
    "output": OUTPUTS,
}
"""Where the parts of a defense are looked up, and the field of the recipe that each fills."""
UNDEFENDED: dict[str, str] = {part: getattr(Recipe(), part).method for part in PARTS}
"""The method that fills each field of the undefended recipe."""
DEFENSES = {
    name: part for part, table in PARTS.items() for name in sorted(table) if name not in {UNDEFENDED[part], "function"}
}
"""Every defense, and the part of the recipe that it fills."""
JOIN = re.compile(r"\+(?=\s*[a-zA-Z])")
"""Between two defenses; a plus sign inside a number is none."""
COMMA = re.compile(r",(?![^\[]*\])")
"""Between two options; a comma inside a list is none."""
INNER = "inner"
"""The option of a procedure that says what its second stage is."""
KINDS = {
    "objective": "a loss",
    "sampler": "a choice of records",
    "procedure": "a way of training",
    "output": "a change of the answers",
}


@dataclass(frozen=True)
class Defense:
    """What there is to know of one defense.

    Attributes:
        part: the field of the recipe that it fills.
        cost: beside plain training, in words.
        options: by name, a sentence and the default; the sentence begins with the allowed words where there are some.
        clashes: defenses that it cannot be combined with at the defaults or some options, and when (see `clashes`).
        inner: procedures that may be its second stage.
        guarantee: in which pairs with another procedure no epsilon is proved, though one of the two does; or empty.
        published: by data set, or data set and network, options that the authors give and recipes for it have.
    """

    name: str
    part: str
    summary: str
    needs: tuple[str, ...]
    cost: str
    paper: str
    options: Mapping[str, tuple[str, str]]
    clashes: Mapping[str, Clash]
    inner: tuple[str, ...] = ()
    guarantee: str = ""
    published: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


def catalogue() -> list[Defense]:
    """List every defense, by its part and name."""
    clash = clashes({name: PARTS[part][name].spec() for name, part in DEFENSES.items()}, DEFENSES)
    return [_told(name, clash[name]) for name in DEFENSES]


def _told(name: str, clash: Mapping[str, Clash]) -> Defense:
    entry = PARTS[DEFENSES[name]][name]
    return Defense(
        name,
        DEFENSES[name],
        entry.summary,
        entry.needs,
        entry.cost,
        entry.paper,
        options={key: described(option) for key, option in entry.spec.model_fields.items() if key != INNER},
        clashes=clash,
        inner=tuple(one for one in getattr(entry, "inner", ()) if one != UNDEFENDED["procedure"]),
        guarantee=_guarantee(name),
        published=getattr(entry, "published", {}),
    )


def _guarantee(name: str) -> str:
    """Name the pairs with a procedure of which the second stage proves an epsilon alone, and the two none."""
    pairs = [(one, inner) for one in PROCEDURES for inner in PROCEDURES[one].inner if PROCEDURES[inner].proves]
    void = listed("+".join(pair) for pair in pairs if name in pair)
    return f"no epsilon of {void}: the first stage sees the members without noise" if void else ""


def parts_of(defense: str | Options) -> dict[str, Options]:
    """Read a defense, and tell what fills the fields of the recipe."""
    given = {"name": defense} if isinstance(defense, str) else dict(defense)
    text = given.pop("name", None)
    if not isinstance(text, str) or not text.strip():
        raise SpecError(f"defense: expected a name such as relaxloss, or a table with a name, got {defense!r}")
    chosen = _methods(text)
    methods = {method["name"]: method for method in chosen.values()}
    for key, value in given.items():
        method = methods[_taker(methods, text, key, value)]
        if key in method:
            raise SpecError(f"defense {text!r}: {key} is given twice: leave one out")
        method[key] = value
    if INNER in chosen:
        chosen["procedure"][INNER] = chosen.pop(INNER)
    return chosen


def _methods(text: str) -> dict[str, Options]:
    """Read the methods that are joined in a text, by the field that each fills, or as the inner one of another."""
    chosen: dict[str, Options] = {}
    for piece in JOIN.split(text):
        name, options = _piece(piece.strip())
        if not name or name.endswith("+"):
            raise SpecError(f"defense {text!r}: a part of it is empty: leave the + out, or give a name beside it")
        if name != NONE or options:
            _put(chosen, text, {"name": name, **options})
    return chosen


def options_of(name: str) -> Mapping[str, FieldInfo]:
    """Return the options of one defense."""
    fields: Mapping[str, FieldInfo] = PARTS[_part(name)][name].spec.model_fields
    return fields


def own_options(text: str) -> set[str]:
    """Name the options of all methods that are joined in a text."""
    return {key for method in _methods(text).values() for key in options_of(method["name"])}


def with_option(text: str, key: str, value: Any) -> str:
    """Write an option into the text of a defense, beside the one of its parts that has it."""
    named = dict(_piece(piece.strip()) for piece in JOIN.split(text))
    owner, _, option = key.replace("-", "_").rpartition(".")
    owner = owner.replace("_", "-")
    if owner and owner not in named:
        raise SpecError(f"defense {text!r}: {key}: {owner} is no part of it: {nearest(owner, named)}")
    named[_taker([owner] if owner else named, text, option, value)][option] = value
    return "+".join(with_options(name, options) for name, options in named.items())


def _put(chosen: dict[str, Options], text: str, method: Options) -> None:
    """Put a method in its field, or in the second stage of a procedure that takes it."""
    name = method["name"]
    part = _part(name)
    if part not in chosen:
        chosen[part] = method
        return
    other = chosen[part]
    if part == "procedure" and INNER not in chosen:
        for outer, inner in ((other, method), (method, other)):
            if inner["name"] in PROCEDURES[outer["name"]].inner and INNER not in outer:
                chosen[part], chosen[INNER] = outer, inner
                return
    raise SpecError(
        f"defense {text!r}: {other['name']} and {name} are both {KINDS[part]}, of which a model has one: "
        "compare them as two defenses, or join one with a defense of another kind (see reticent defenses)"
    )


def defended(recipe: Options, defense: str | Options) -> Options:
    """Put a defense into what the user says of a recipe."""
    parts = parts_of(defense)
    for part in PARTS:
        given = recipe.get(part)
        name = given.get("name", given.get("method")) if isinstance(given, Mapping) else given
        own = usercode.is_import_string(str(name))
        if own and part in parts:
            raise SpecError(
                f"{part} is {name!r}, a function of yours, which stands in the place of {parts[part]['name']}: leave "
                "one of the two out, or do inside the function what the defense does"
            )
        wanted = parts[part]["name"] if part in parts else UNDEFENDED[part] if not parts else name
        if name is not None and name != wanted and not own:
            raise SpecError(
                f"{part} is {name!r}, and the defense {defense!r} is another: leave one of the two out, or join them "
                "with +"
            )
    _used(recipe.get("procedure"), parts, defense)
    return {**recipe, **{part: _joined(part, recipe.get(part), options) for part, options in parts.items()}}


def _used(procedure: Any, parts: Mapping[str, Options], defense: Any) -> None:
    """Refuse a loss beside a training function of the user's, by the name that the user gave it."""
    name = procedure.get("function", procedure.get("name")) if isinstance(procedure, Mapping) else procedure
    if "objective" in parts and usercode.is_import_string(str(name)):
        raise SpecError(
            f"defense {defense!r}: {parts['objective']['name']} is a loss, which is not used, since models are made by "
            f"{name}: leave it out here, and train with such a loss inside that function"
        )


def _joined(part: str, given: Any, options: Options) -> Options:
    """Put options that stand in the recipe to those that stand with the defense."""
    told = dict(given) if isinstance(given, Mapping) else {}
    for key, value in options.items():
        if key != "name" and key in told and told[key] != value:
            raise SpecError(
                f"{part}.{key} is {told[key]!r}, and the defense has {key}={value!r}: leave one of the two out"
            )
    return {**told, **options}


def _piece(text: str) -> tuple[str, Options]:
    """Read one ``name:key=value,key=value``."""
    name, colon, rest = text.partition(":")
    options: Options = {}
    for pair in COMMA.split(rest) if colon else []:
        key, equals, value = pair.partition("=")
        name_of = key.strip().replace("-", "_")
        if not equals or not name_of:
            raise SpecError(f"defense {text!r}: expected name:option=value,option=value, got {pair!r}")
        if name_of in options:
            raise SpecError(f"defense {text!r}: {name_of} is given twice: leave one out")
        options[name_of] = toml_or_text(value)
    return name.strip(), options


def has_defense(recipe: Recipe) -> bool:
    """Tell whether a recipe is anything but plain, and can be stripped of it."""
    parts = {part: getattr(recipe, part).method for part in PARTS}
    return parts != UNDEFENDED and parts["procedure"] != "function"


def undefended(recipe: Recipe) -> Recipe:
    """Take the defense out of a recipe."""
    if recipe.procedure.method == "function":
        raise SpecError(
            "also_non_adaptive: training is a function of yours, so that no training without the defense is known: "
            "audit both, and compare them"
        )
    plain = recipe.replace(**{part: getattr(Recipe(), part) for part in PARTS})
    if plain == recipe:
        raise SpecError(
            "also_non_adaptive: the recipe has no defense that references could be trained without: give --defense NAME"
        )
    return plain


def _not_plain(name: str, instead: str) -> None:
    """Refuse the undefended recipe, and what it is made of, where a defense is asked for."""
    if name in {NONE, *UNDEFENDED.values()}:
        what = "the undefended recipe, which has no options" if name == NONE else "a part of the undefended recipe"
        raise SpecError(f"defense: {name!r} is {what}: {instead} a name that reticent defenses lists")


def _part(name: str) -> str:
    _not_plain(name, f"write {NONE} alone to have that recipe, or give")
    if name not in DEFENSES:
        unknown = UnknownNameError("defense", name, DEFENSES)  # "nope" asks for one, so that none is no guess.
        raise unknown.retold(f"{unknown} (see reticent defenses)")
    return DEFENSES[name]


def _taker(names: Iterable[str], text: str, key: str, value: Any) -> str:
    """Find the one method that has an option."""
    known = {name: options_of(name) for name in names}
    takers = [name for name, options in known.items() if key in options]
    if len(takers) > 1:
        raise SpecError(
            f"defense {text!r}: {' and '.join(takers)} both have an option {key!r}: say whose it is, "
            f"as in {takers[0]}:{key}={value}"
        )
    if not takers:
        raise SpecError(f"defense {text!r}: unknown option {key!r}: {nearest(key, set(chain(*known.values())))}")
    return takers[0]


def explained(name: str) -> Defense:
    """Find one defense."""
    if set(name) & set("+:"):
        first = re.split("[+:]", name)[0] or "hamp"
        raise SpecError(f"expected one name, without options, such as {first!r}, got {name!r}")
    _not_plain(name, "there is nothing to explain; give")
    _part(name)
    return next(one for one in catalogue() if one.name == name)
