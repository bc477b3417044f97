"""The flags that every verb shares, as one dataclass that cyclopts flattens."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from reticent.data.options import DataOptions
from reticent.errors import SpecError, nearest
from reticent.spec import read_toml, toml_or_text


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Training:
    """How models are trained, and attacked; what every verb that trains has in common."""

    batch_size: int | None = None
    "Records a step."
    optimizer: str | None = None
    "sgd, adam or adamw."
    learning_rate: float | None = None
    "Peak learning rate."
    weight_decay: float | None = None
    "Weight decay."
    augmentation: str | None = None
    "none, flip, crop or flip-crop (images)."
    seed: int | None = None
    "Master seed. [0]"
    workers: int | None = None
    "Processes to train in. [one a core]"
    device: str | None = None
    "auto, cpu, cuda or cuda:N. [auto]"
    store: Path | None = None
    "Folder of finished models, never trained twice; several runs may share it at once. [reticent-store]"
    attack: Annotated[list[str] | None, Parameter(negative="")] = None
    "An attack to run; repeat it for several. [all]"
    delta: float | None = None
    "Delta of the lower bounds on epsilon, and of dpsgd where that has none of its own. [0.00001]"
    set: Annotated[list[str] | None, Parameter(negative="")] = None
    "Any option by its dotted name: --set attack.lira.variance=pooled; repeat it for several."

    def values(self) -> dict[str, Any]:
        """Return what was given, by key of the configuration."""
        given = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) is not None}
        settings = given.pop("set", [])
        given.pop("config", None)
        renamed = {"attack": "attacks", "architecture": "recipe.architecture.name"}
        values = {renamed.get(k, k): str(v) if isinstance(v, Path) else v for k, v in of_data(given).items()}
        return values | dict(setting(text) for text in settings)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Subject:
    """What to audit."""

    dataset: str | None = None
    "A name of `reticent data list`, a file (.npz, .npy, .csv, .tsv, .parquet), a folder, or module:function. [digits]"
    data_dir: Path | None = None
    "Folder of official data files; then RETICENT_DATA, then the cache folder."
    records: int | None = None
    "How many records to audit, drawn at random. [all]"
    architecture: str | None = None
    "mlp, cnn, resnet18 to resnet152, resnet20, vgg11 to vgg19, vit, atm, transformer, or module:factory of your own."
    defense: Annotated[list[str] | None, Parameter(negative="")] = None
    "A name of `reticent defenses`, such as relaxloss or dpsgd:epsilon=8; several in one model are joined by +. [none]"
    train: str | None = None
    "Your own training, module:function, (x, y, seed) -> nn.Module or a fitted scikit-learn classifier."
    models: int | None = None
    "Number of models to train. [what suits the data set]"
    epochs: int | None = None
    "Passes over the training records."


def _data(key: str, more: str = "") -> Parameter:
    """Tell of a key of `DataOptions`, which are declared there."""
    field = DataOptions.model_fields[key]
    told = (field.description or "").replace("``", "")
    usual = f" [{field.default}]" if isinstance(field.default, str) else ""
    return Parameter(negative="", help=f"{told}{f' On the command line, {more}.' if more else ''}{usual}")


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class DataFlags:
    """How the columns of a csv or Parquet file are read."""

    label: Annotated[str | None, _data("label")] = None
    not_feature: Annotated[list[str] | None, _data("not_features", "repeat it for several")] = None
    rare: Annotated[list[str] | None, _data("rare", "give COLUMN=N, and repeat it for several")] = None
    hash: Annotated[list[str] | None, _data("hash", "give COLUMN=N, and repeat it for several")] = None
    missing: Annotated[str | None, _data("missing")] = None
    scale: Annotated[str | None, _data("scale")] = None
    image_size: Annotated[int | None, _data("image_size")] = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Flags(Training, DataFlags, Subject):
    """What to audit, and how."""

    validation: int | None = None
    "Records set apart for early stopping (with --set recipe.patience=N)."
    reference: int | None = None
    "Reference non-members that the defense may use. [a fifth of the records where it needs them]"
    population: int | None = None
    "Records that no model sees, as RMIA's population."
    out: Path | None = None
    "Folder for the report and its data. [named after the command, such as reticent-audit]"
    group_by: Annotated[list[str] | None, Parameter(negative="")] = None
    "A column of the data whose groups are compared, beside the classes; repeat it for several."
    control: str | None = None
    "null repeats the audit with permuted membership, where there is nothing to find. [none]"
    also_non_adaptive: bool | None = None
    "Also attack with references trained without the defense, as one who does not know of it would."
    promised_epsilon: float | None = None
    "The epsilon, at delta, that you say training keeps; shown beside the bound, as stated."
    format: str | None = None
    "md writes report.md too, a section of a model card. [html]"
    config: Path | None = None
    "TOML file with any of these and every other option; flags win."


def of_data(given: Mapping[str, Any]) -> dict[str, Any]:
    """Bring the flags of `DataFlags` to keys of `DataOptions`."""
    values = {{"not_feature": "not_features"}.get(key, key): value for key, value in given.items()}
    for key in ("rare", "hash"):
        if isinstance(values.get(key), list):
            values[key] = dict(_counted(key, text) for text in values[key])
    return values


def _counted(key: str, text: str) -> tuple[str, int]:
    column, equals, number = text.rpartition("=")
    if not equals or not number.strip().isdecimal():
        raise SpecError(f"--{key} {text}: expected COLUMN=N, such as diagnosis={10 if key == 'rare' else 64}")
    return column, int(number)


def with_options(values: dict[str, Any], options: Mapping[str, str], config: Path | None = None) -> dict[str, Any]:
    """Take the one defense of an audit, and with it flags that no verb has of its own: its options."""
    names = values.pop("defense", None)
    if not isinstance(names, list):  # By --set, or not at all; what is wrong with it is told with the configuration.
        if names is not None and not options:
            return values | {"defense": names}
        names = [names] if isinstance(names, str) else []
    if len(names) > 1:
        raise SpecError(
            f"--defense is given {len(names)} times, and an audit is of one: join what goes into one model by + "
            f"({'+'.join(names)}), or see how they differ by reticent compare"
        )
    if not options:
        return values | ({"defense": names[0]} if names else {})
    given = {key.replace("-", "_"): toml_or_text(value) for key, value in options.items()}
    if names:
        return values | {"defense": {"name": names[0], **given}}
    written = None if config is None else read_toml(config).get("defense")
    if not isinstance(written, (str, dict)):
        raise SpecError(_no_flag(*next(iter(options.items()))))
    return values | {"defense": _changed({"name": written} if isinstance(written, str) else written, given)}


def _changed(defense: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Give a defense that a file names other options; they win over those of its table and of its text."""
    from reticent.jobs.defenses import with_option

    changed = dict(defense)
    for key, value in options.items():
        if key not in changed and ":" in str(changed.get("name")):
            changed["name"] = with_option(str(changed["name"]), key, value)
        else:
            changed[key] = value
    return changed


def no_options(options: Mapping[str, str], defenses: Sequence[str]) -> None:
    """Refuse flags that no verb has, where there may be several defenses and each has options of its own."""
    for key, value in options.items():
        raise SpecError(_no_flag(key, value, defenses))


def _no_flag(key: str, value: str, defenses: Sequence[str] | None = None) -> str:
    """Say what an unknown flag may have meant: an option of a defense that is not given, or another flag.

    Where there may be several defenses, an option stands behind the name of its own.
    """
    from reticent.jobs.misplaced import owners, placed

    name = key.replace("_", "-")
    guess = nearest(name, [f.name.replace("_", "-") for f in fields(Flags)])
    owned = owners(name)
    if not owned:
        where = "beside --defense NAME" if defenses is None else "with its name, as --defense NAME:option=value"
        return f"unknown flag --{name}: {guess} (options of a defense are given {where})"
    guess = f"; or {guess}" if guess.startswith("did") else ""
    told = f"unknown flag --{name}: it is an option of the defense {' or '.join(owned)}"
    if defenses is None:
        return f"{told}, and none is given: give --defense {owned[0]} --{name} {value}{guess}"
    text = placed(key, toml_or_text(value), defenses)
    return f"{told}, which stands with its name: write --defense {text}{guess}"


def setting(text: str) -> tuple[str, Any]:
    """Read one ``key=value``; the value as TOML, or else as a text."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise SpecError(f"--set {text}: expected key=value, such as attack.lira.variance=pooled")
    return key.strip(), toml_or_text(value)
