"""Flags made from the specs of a configuration: name, type, text and default of each are the spec's own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from types import GenericAlias
from typing import Annotated, Any, Literal, NoReturn, TypeVar, get_args, get_origin

from cyclopts import Group, Parameter
from pydantic.fields import FieldInfo

from reticent.errors import Problems, SpecError, nearest
from reticent.options import FOLDER, SILENT, AttackConfig, AuditConfig, DataOptions, Options, described, spelled
from reticent.spec import RARELY, read_toml, toml_or_text
from reticent.training.recipe import Recipe

Kind = TypeVar("Kind")
Several = Annotated[list[str] | None, Parameter(negative="")]
"""A flag that may be repeated."""
Switch = Annotated[bool, Parameter(negative="", show_default=False)]
Setting = Annotated[
    list[str] | None,
    Parameter(
        negative="", help="Any option by its dotted name: --set attack.lira.variance=pooled. Repeat it for several."
    ),
]
RECIPE = (
    "architecture",
    "epochs",
    "batch_size",
    "optimizer",
    "learning_rate",
    "weight_decay",
    "augmentation",
    "augmentation_strength",
    "retrain",
)
"""Keys of the recipe that have a flag; the others are given by --set."""
FIELDS = AuditConfig.model_fields | {key: Recipe.model_fields[key] for key in RECIPE}
KEYS = {"architecture": "recipe.architecture.name"}
"""Flags that change a part of a table, whose rest may stand in the file."""
WORDS: dict[str, type | GenericAlias] = {"defense": list[str], "max_epsilon": str}
"""Flags whose words say more than one value of their option does."""
REPEATED = {"defense": " reticent compare takes several: repeat it."}
"""What the help says where it is not that a flag may be repeated for several values."""
DATA = tuple(DataOptions.model_fields)
ATTACK = tuple(key for key in AttackConfig.model_fields if key != "attack")
SUBJECT = tuple(key for key in AuditConfig.model_fields if key not in {*DATA, *ATTACK, "attack", "recipe", "queries"})
TRAINING = (*RECIPE[1:], "models", "seed", "workers", "device", "stack", "store", "data_dir", "attacks", "delta")

GROUPS = {
    Group("Data", sort_key=1): {
        "dataset", "data_dir", "records", "validation", "reference", "population", "unit", "unit_score", "group_by",
        *DATA,
    },
    Group("Models", sort_key=2): {"models", *RECIPE, "defense", "train", "seed"},
    Group("Attacks and their numbers", sort_key=3): {
        "attacks", "replicates", "confidence", "delta", "promised_epsilon", "control", "also_non_adaptive"
    },
    Group("Machine and files", sort_key=4): {
        "workers", "executor", "address", "device", "stack", "store", "out", "format", "records_format"
    },
}  # fmt: skip
"""Which flags stand together in the help, below what a verb has of its own."""
LIMITS = Group("Limits", sort_key=1)
"""Where a gate's stand, which are none of an audit's."""


def flags(
    *keys: str, of: Mapping[str, FieldInfo] = FIELDS, show: bool = True, **texts: str
) -> Callable[[type[Kind]], type[Kind]]:
    """Give a class one flag for each of some options of a spec; a text here stands for the spec's.

    What is not shown is read all the same, so that the job says why it refuses it.
    """

    def made(kind: type[Kind]) -> type[Kind]:
        told = {key: _flag(key, of[key], texts.get(key), show) for key in keys}
        for key in told:
            setattr(kind, key, None)
        kind.__annotations__ = told | kind.__annotations__
        return Parameter(name="*")(dataclass(frozen=True, kw_only=True)(kind))

    return made


def _flag(key: str, field: FieldInfo, text: str | None, show: bool) -> Any:
    kind = WORDS.get(key) or _kind(field.annotation, field.metadata)
    repeated = kind == list[str]
    if text is None:
        text, usual = described(field)
        usual = "what suits the data set" if key in RECIPE and field.default is not None else usual
        text += REPEATED.get(key, " Repeat it for several.") * repeated + f" [{usual}]" * (usual not in {"", "False"})
    number = kind in {int, float}
    return Annotated[
        kind | str | None if number else kind | None,  # The spec refuses a word, with all else that is wrong.
        Parameter(
            name=f"--{spelled(key)}",
            help=text,
            negative="" if repeated else None,
            group=_group(key),
            metavar=kind.__name__.upper() if number else None,
            show=show,
        ),
        *[one for one in field.metadata if one == RARELY],
    ]


def _group(key: str) -> Group:
    return next((group for group, keys in GROUPS.items() if key in keys), LIMITS)


def _kind(annotation: Any, metadata: Sequence[Any] = ()) -> Any:
    """Find how the word after a flag is read; the rest is checked by the spec."""
    if get_origin(annotation) is Annotated:
        annotation, *metadata = get_args(annotation)
    if FOLDER in metadata:
        return Path
    if annotation in {int, float, bool}:
        return annotation
    if get_origin(annotation) in {tuple, dict}:
        return list[str]
    number = next((kind for kind in map(_kind, get_args(annotation)) if kind is not str), str)
    return number | str if any(get_origin(one) is Literal for one in get_args(annotation)) else number


class Told:
    """What was said by flags."""

    set: Setting = None
    config: Path | None = None

    def values(self) -> Options:
        """Return it by key of the configuration."""
        told = {key: value for key, value in vars(self).items() if value is not None and key not in {"set", "config"}}
        values = {KEYS.get(key, key): _value(key, value) for key, value in told.items()}
        return values | dict(setting(text) for text in self.set or ())


def _value(key: str, value: Any) -> Any:
    if key in {"rare", "hash"}:
        return dict(_counted(key, text) for text in value)
    return str(value) if isinstance(value, Path) else value


def _counted(key: str, text: str) -> tuple[str, int]:
    column, equals, number = text.rpartition("=")
    if not equals or not number.strip().isdecimal():
        raise SpecError(f"--{key} {text}: expected COLUMN=N, such as diagnosis={10 if key == 'rare' else 64}")
    return column, int(number)


def setting(text: str) -> tuple[str, Any]:
    """Read one ``key=value``; the value as TOML, or else as a text."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise SpecError(f"--set {text}: expected key=value, such as attack.lira.variance=pooled")
    return key.strip(), toml_or_text(value)


@flags(*DATA)
class DataFlags(Told):
    """How a user's own data are read."""


@flags(
    *SUBJECT,
    *RECIPE,
    *ATTACK,
    *DATA,
    out="Folder for the report and its numbers. [reticent-audit, reticent-compare, ...]",
)
class Flags(Told):
    """What to audit, and how."""

    train: Annotated[
        str | None,
        Parameter(
            help="Your own training, module:function. It is (x, y, seed) -> nn.Module or a scikit-learn classifier.",
            group=_group("train"),
        ),
    ] = None
    set: Setting = None
    config: Annotated[Path | None, Parameter(help="TOML file with any of these and every other option; flags win.")] = (
        None
    )

    def asked(self, options: Mapping[str, str]) -> Options:
        """Return what was said, with the one defense of an audit, which takes flags that no verb has: its options."""
        values = self.values()
        defense = values.pop("defense", None)
        if isinstance(defense, list):  # By --set, it is a text or a table.
            if len(defense) > 1:
                raise SpecError(
                    f"--defense is given {len(defense)} times, and an audit is of one: join what goes into one model "
                    f"by + ({'+'.join(defense)}), or see how they differ by reticent compare"
                )
            defense = defense[0]
        if options:
            from reticent.jobs.defenses import with_option

            written = defense or (read_toml(self.config).get("defense") if self.config else None)
            if not isinstance(written, (str, dict)):
                self._refused(options, values)
            table = {"name": written} if isinstance(written, str) else dict(written)
            for key, value in ((key.replace("-", "_"), toml_or_text(value)) for key, value in options.items()):
                if not defense and key not in table and ":" in str(table.get("name")):
                    table["name"] = with_option(str(table["name"]), key, value)  # A flag wins over the file's text.
                else:
                    table[key] = value
            defense = table
        return values if defense is None else values | {"defense": defense}

    def folder(self, values: Options, usual: str) -> str:
        """Tell where the report of a verb goes that has a folder of its own."""
        return str(values.get("out") or (read_toml(self.config).get("out") if self.config else None) or usual)

    def checked(self, options: Mapping[str, str]) -> Options:
        """Return the same; refuse numbers and attacks before PyTorch and the data are loaded, where these are all."""
        from reticent.jobs.attacks import build_attacks

        values = self.asked(options)
        if self.config is None and values.keys() <= AuditConfig.model_fields.keys() - {"defense", "recipe", "queries"}:
            problems = Problems()
            with problems.here():
                AuditConfig(**values)
            with problems.here():
                build_attacks(AttackConfig(attacks=values.get("attacks", ())))
            problems.tell()
        return values

    def _refused(self, options: Mapping[str, str], values: Options) -> NoReturn:
        """Refuse flags that no verb has, with all else that is wrong."""
        from reticent.jobs.config import gather

        problems = Problems()
        looks: tuple[Callable[[], object], ...] = (partial(refuse, options), partial(gather, self.config, values))
        for look in looks:
            with problems.here():
                look()
        problems.tell()
        raise AssertionError("nothing was refused")


@flags("unit", "unit_score", show=False)
class RowFlags(Flags):
    """What holds for all rows of a comparison, and how."""

    config: Annotated[Path | None, Parameter(show=False)] = None


def silent(command: str) -> tuple[str, ...]:
    """List the flags of an audit that a command refuses."""
    return tuple(key for key in (*SILENT[command], "unit", "unit_score") if hasattr(Flags, key))


def refuse(options: Mapping[str, str], defenses: Sequence[str] | None = None) -> NoReturn:
    """Refuse flags that no verb has: say of each which defense's option it is, or which flag is nearest.

    Where there may be several defenses, an option stands behind the name of its own.
    """
    problems = Problems()
    for key, value in options.items():
        with problems.here():
            _refuse(key, value, defenses)
    problems.tell()
    raise AssertionError("nothing was refused")


def _refuse(key: str, value: str, defenses: Sequence[str] | None) -> NoReturn:
    from reticent.jobs.option_hints import owners, placed

    name = key.replace("_", "-")
    known = [spelled(one.name) for one in fields(Flags)]  # type: ignore[arg-type]
    owned = owners(name)
    if not owned:
        where = "beside --defense NAME" if defenses is None else "with its name, as --defense NAME:option=value"
        raise SpecError(f"unknown flag --{name}: {nearest(name, known)} (options of a defense are given {where})")
    guess = f"; or {nearest(name, known)}" if get_close_matches(name, known) else ""
    told = f"unknown flag --{name}: it is an option of the defense {' or '.join(owned)}"
    if defenses is None:
        raise SpecError(f"{told}, and none is given: give --defense {owned[0]} --{name} {value}{guess}")
    text = placed(key, toml_or_text(value), defenses)
    raise SpecError(f"{told}, which stands with its name: write --defense {text}{guess}")


def initial_state(file: Path | None, seed: int | None) -> Path | int | None:
    """Take the state before training: a file, or a seed."""
    if file is not None and seed is not None:
        raise SpecError("--initial and --initial-seed: both say what the state before training was; leave one out")
    return seed if file is None else file
