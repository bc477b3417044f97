"""What a user may say of an audit, its attacks and its data: every flag, key of a file and Python argument.

The command line and ``docs/configuration.md`` are made from these specs and that of the recipe. A text may end with
what stands for no value, in square brackets. Nothing heavy is loaded, so that help is fast.
"""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt, Lt
from pydantic import AfterValidator, BeforeValidator, Field
from pydantic.fields import FieldInfo

from reticent import user_files
from reticent.errors import InputError
from reticent.spec import RARELY, Names, Spec, as_toml, choices, full

Options = dict[str, Any]
Count = Annotated[int, Ge(2)]
Kind = Literal["table", "pictures", "arrays"]
UnitScore = Literal["mean", "sum", "max"]
ABOUT = {"table": "columns of a table (csv, Parquet, or a data frame)", "pictures": "a folder of pictures"}


def _at_home(value: str) -> str:
    return str(user_files.path(value)) if value.startswith("~") else value


def _name_or_table(value: Any) -> Any:
    if value is not None and not isinstance(value, (str, Mapping)):
        raise ValueError("a name such as relaxloss, or a table with a name")
    return value


OWN = "own data"
"""The data set's name where a Python caller gives the data as they are."""
ALL = "all"
"""Every attack that fits, in place of names."""
FOLDER = "folder"
Folder = Annotated[str, AfterValidator(_at_home), FOLDER]


class DataOptions(Spec):
    """How a user's own data are read."""

    label: str | None = None
    """For csv and Parquet files: the label's column. Texts, and whole numbers that do not count from 0, name their
    classes, in sorted order. [the one named label, y, target or class]"""
    not_features: Annotated[Names, RARELY] = ()
    """For csv and Parquet files: columns that models do not see, such as a record's number; records can be grouped by
    them, an audit's records.csv has them, and they may have gaps."""
    rare: Annotated[dict[str, Count], RARELY] = Field(default_factory=dict)
    """For csv and Parquet files: COLUMN=N, texts of fewer than N records are one category; in TOML
    ``{diagnosis = 10}``."""
    hash: Annotated[dict[str, Count], RARELY] = Field(default_factory=dict)
    """For csv and Parquet files: COLUMN=N, texts are put into N features by their hash, several into one; in TOML
    ``{diagnosis = 64}``."""
    missing: Annotated[Literal["refuse", "indicator"], RARELY] = "refuse"
    """For csv and Parquet files: what a column of numbers with gaps becomes. indicator fills in the column's median,
    and adds a feature that is 1 where it did. Gaps among texts are a category of their own, whatever stands here."""
    scale: Annotated[Literal["none", "standard"], RARELY] = "none"
    """For csv and Parquet files: standard takes from each column of numbers its mean, and divides by its standard
    deviation. Means, medians and categories are taken over all records, members or not."""

    image_size: Annotated[Annotated[int, Ge(1)] | None, RARELY] = None
    """For a folder of pictures: the pixels that the shorter side of each is scaled to; its middle is cut out."""

    def given(self) -> Options:
        """Return what was asked for that is not usual."""
        fields = DataOptions.model_fields.items()
        usual = {key: field.get_default(call_default_factory=True) for key, field in fields}
        return {key: getattr(self, key) for key, value in usual.items() if getattr(self, key) != value}

    def check(self, kind: Kind, what: str | Path) -> None:
        """Refuse what was asked for that these data do not have."""
        for key in self.given():
            belongs: Kind = "pictures" if key == "image_size" else "table"
            if belongs != kind:
                raise InputError(f"{key}: is about {ABOUT[belongs]}, got {what}: leave it out")


class AttackConfig(Spec):
    """What a user may say of attacks and of the audit of their scores."""

    attacks: Names = ()
    """Attacks to run, by their names in docs/attacks.md. all runs every one that fits, and so widens the
    verdict's intervals; wemem runs the eight of that paper's that are known well enough. [the strongest that fit the
    models and their answers, and loss: docs/attacks.md]"""
    attack: dict[str, Options] = Field(default_factory=dict)
    """Options of attacks, one table a name: ``[attack.lira]``."""
    seed: Annotated[int, Ge(0), Lt(2**53)] = 0
    """Seed of all that is random. That is who trains on what, each model's training, the bootstrap. Below 2**53, which
    JSON holds exactly."""
    replicates: Annotated[int, Ge(100), RARELY] = 1000
    """Bootstrap replicates behind the intervals over models."""
    confidence: Annotated[float, Gt(0.5), Lt(1), RARELY] = 0.95
    """Level of every interval."""
    delta: Annotated[float, Ge(0), Lt(1), RARELY] = 1e-5
    """Delta of the lower bounds on epsilon; also of the epsilon that dpsgd keeps, where it has no delta of its own."""
    promised_epsilon: Annotated[Annotated[float, Ge(0)] | None, RARELY] = None
    """The epsilon, at delta, that you say the training keeps; shown beside the lower bound, as stated."""
    control: Annotated[Literal["none", "null"], RARELY] = "none"
    """null repeats the audit with permuted membership, where there is nothing to find."""
    format: Annotated[Literal["html", "md"], RARELY] = "html"
    """md writes report.md too, a section of a model card."""
    records_format: Annotated[Literal["csv", "parquet"], RARELY] = "csv"
    """parquet writes records.parquet beside records.csv, with the same columns; it needs pyarrow."""
    group_by: Annotated[Names, RARELY] = ()
    """Columns of the data whose groups of records are compared, beside the classes, which always are."""
    unit: Annotated[str | None, RARELY] = None
    """A column whose values name persons, or other units of several records (for tables also a --not-feature); of
    outputs that are brought, one of the file's arrays. All records of a unit are in a model's training set, or none,
    and what is measured is told of units. [records are units]"""
    unit_score: Annotated[UnitScore, RARELY] = "mean"
    """How an attack joins the scores of a unit's records. The sum finds more by log-ratios (LiRA) where records of a
    unit are unlike each other; of other attacks it ranks units by how many records they have."""

    @property
    def every_attack(self) -> bool:
        """Whether every attack that fits is asked for."""
        return ALL in self.attacks


class AuditConfig(DataOptions, AttackConfig):
    """What a user may say of an audit; every key of ``audit.toml`` and every flag."""

    dataset: Annotated[str, AfterValidator(_at_home)] = "digits"
    """A name of `reticent data list`, a file (.npz, .npy, .csv, .tsv, .parquet), a folder of pictures by class, or
    module:function."""
    data_dir: Annotated[Folder | None, RARELY] = None
    """Folder of official data files. [RETICENT_DATA, then the cache folder]"""
    records: Annotated[int, Ge(2)] | None = None
    """How many records to audit, drawn at random. [all that no other role takes]"""
    validation: Annotated[int, Ge(0), RARELY] = 0
    """Records for early stopping (with recipe.patience)."""
    reference: Annotated[Annotated[int, Ge(0)] | None, RARELY] = None
    """The defender's reference non-members: records that are kept out of training and given to the defense. [none, or a
    fifth of the records where a defense needs them]"""
    population: Annotated[int, Ge(0), RARELY] = 0
    """Records that no model is trained on and that the attacker has, to compare with (for RMIA)."""
    models: Annotated[int, Ge(2)] | None = None
    """How many models to train. [what suits the data set]"""
    workers: Annotated[int, Ge(1)] | None = None
    """Processes to train in; with the executor ray, models at a time on each GPU. [one a core on the CPU, one on CUDA]
    """
    executor: Annotated[Literal["auto", "inline", "processes", "ray"], RARELY] = "auto"
    """Who trains the models: this process, a pool of processes, or a Ray cluster, whose machines must share the store
    (docs/scale.md). auto is inline for one worker, else processes."""
    address: Annotated[str | None, RARELY] = None
    """With the executor ray: HOST:PORT of the cluster. [RAY_ADDRESS, then a cluster that runs on this machine, then one
    that is started for the command]"""
    device: str = "auto"
    """auto, cpu, cuda or cuda:N."""
    stack: Annotated[Annotated[int, Ge(1)] | Literal["auto"] | None, RARELY] = None
    """Models that a process trains as one batched computation, where networks and defenses allow it; 1 is each alone.
    auto measures what is faster, and keeps to it in this store. Models of one way are not those of the other, to the
    last bits. [1, unless the store has models that were trained together]"""
    store: Annotated[str, AfterValidator(_at_home)] = "reticent-store"
    """Folder of finished models, never trained twice. Or s3://bucket/path (docs/scale.md). Several commands may share
    it at once: if other commands are training all remaining models already, this one exits with 2; run it again later.
    """
    out: Folder = "reticent-audit"
    """Folder for the report and its numbers."""
    defense: Annotated[str | Options | None, BeforeValidator(_name_or_table)] = None
    """A name of `reticent defenses`, or several joined by +, with options: dpsgd:epsilon=8; in a file or in Python also
    a table with ``name`` and options. Short for the recipe's objective, sampler, procedure and output.
    [none]"""
    also_non_adaptive: Annotated[bool, RARELY] = False
    """Also attack with references that are trained without the defense, as one who does not know of it would."""
    recipe: Options = Field(default_factory=dict)
    """How each model is made: the fields of `Recipe`; ``architecture``, ``objective``, ``sampler``, ``procedure`` and
    ``output`` are a name, or a table with ``name`` and options."""
    queries: Options = Field(default_factory=dict)
    """Views of each record that the attacks may ask about: the fields of `Queries`."""


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
    "records_format",
)
"""Keys of an audit's attacks and of its report."""
MAKING = ("workers", "executor", "address")
"""Keys of who trains several models."""
SILENT: dict[str, tuple[str, ...]] = {
    "locate weights": (*ATTACKING, *MAKING, "replicates", "confidence"),
    "locate weights --weights": ("models", "records", "validation", "stack"),
    "locate layers": (*ATTACKING, "models", "queries"),
    "locate records": (*(key for key in ATTACKING if key != "group_by"), "replicates"),
    "locate records --without-references": (
        *ATTACKING, *MAKING, "stack", "models", "queries", "replicates", "confidence"
    ),
    "harden": (
        *(key for key in ATTACKING if key not in {"attacks", "attack", "delta"}),
        "records",
        "validation",
        "defense",
        "objective",
        "sampler",
        "procedure",
        "output",
        "queries",
        "train",
    ),
}  # fmt: skip
"""Keys of an audit that say nothing to another command, or something else, and are refused there."""
SHORT = {"train": "recipe.procedure.name"}
"""Short keys, and where they lead."""


def described(field: FieldInfo) -> tuple[str, str]:
    """Say what an option means, after the words that it may be, and what its default is or stands for."""
    words, text = ", ".join(map(str, choices(field.annotation))), " ".join((field.description or "").split())
    told, bracket, stands_for = text.removesuffix("]").rpartition(" [")
    if bracket and text.endswith("]"):
        text, usual = told, stands_for
    elif field.is_required():
        usual = "must be given"
    else:
        value = full(field.get_default(call_default_factory=True))
        value = value.get("method") if isinstance(value, dict) else value
        usual = "" if value in (None, []) else f"{value:g}" if isinstance(value, float) else str(value)
    return (f"{words}. {text}" if words else text), usual


def with_options(name: str, options: Options) -> str:
    """Write a method and its options in a line: ``dpsgd:epsilon=8``."""
    told = ",".join(f"{key}={as_toml(value)}" for key, value in options.items())
    return f"{name}:{told}" if told else name


def spelled(key: str) -> str:
    """Write a key as its flag, which takes one of several names at a time."""
    return {"attacks": "attack", "not_features": "not-feature"}.get(key, key).replace("_", "-")


def flag(option: str, column: str, value: int | None = None) -> str:
    """Write a flag that a shell takes, whatever the column is called."""
    return f"--{option} {shlex.quote(column if value is None else f'{column}={value}')}"
