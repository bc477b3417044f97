"""Configuration of an audit: what the user says, and what it resolves to before anything is trained."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reticent.attacks import Offer, check_membership, check_offer
from reticent.attacks import probes as asked_by
from reticent.auditing.partition import Partition
from reticent.data.datasets import DATASETS
from reticent.data.load import load, of_python
from reticent.data.membership import Membership
from reticent.data.records import Records
from reticent.data.roles import Roles
from reticent.data.units import Units, units_of
from reticent.errors import InputError, Problems, RolesError, SpecError, nearest
from reticent.jobs import attack_inputs, grouping, replicas
from reticent.jobs.attacks import before_training, build_attacks, of_attacks, put
from reticent.jobs.defenses import defended, undefended
from reticent.jobs.option_hints import owners, placed
from reticent.jobs.recipes import METHODS, at_delta, build_recipe
from reticent.options import OWN, SHORT, AttackConfig, AuditConfig, Options
from reticent.population import stacking
from reticent.population.executors import Executor
from reticent.population.population import Population
from reticent.procedures.recipe_checks import check_records, needs
from reticent.procedures.user import check_used
from reticent.signals.queries import Queries
from reticent.spec import Spec, read_toml
from reticent.store import at
from reticent.threads import cores
from reticent.torch_state import fixed
from reticent.training.recipe import Recipe

DEFAULT_MODELS = 16
DUPLICATES = 50
"""By so many records the usual number of reference non-members may be missed, so that no exact duplicates are split."""
BY_KIND: dict[str, Options] = {
    "image": {"architecture": "cnn", "epochs": 30},
    "tabular": {"architecture": "mlp", "epochs": 40},
    "tokens": {"architecture": "transformer", "epochs": 20},
}
"""What is suggested for data that no table knows."""


KEYS = frozenset({*AuditConfig.model_fields, *Recipe.model_fields})
"""What may be given at the top, of an audit or of its recipe."""


@dataclass(frozen=True, eq=False)
class Job:
    """An audit that is checked and ready to train.

    Attributes:
        partitions: how the audited records are grouped.
        left_out: why attacks are not among them, by name, where all that fit are asked for.
        units: to which unit each audited record belongs, where units are audited; or None.
    """

    config: AuditConfig
    records: Records
    population: Population
    attacks: tuple[Spec, ...]
    executor: Executor
    partitions: tuple[Partition, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    units: Units | None = None


@fixed()
def called(
    config: AuditConfig | str | Path | None, values: Mapping[str, Any], *, attacked: bool = True, units: bool = True
) -> Job:
    """Prepare what a Python caller gives, who may give data and functions as they are."""
    said, records = asked(config, values)
    if not units:
        by_record(said)
    return prepare(said, records, attacked=attacked)


def asked(config: AuditConfig | str | Path | None, values: Mapping[str, Any]) -> tuple[AuditConfig, Records | None]:
    """Read the configuration that a Python caller gives, and the data where they are given as they are."""
    data = values.get("dataset")
    if "dataset" in values and data is None:
        raise InputError(
            "dataset: expected a name, a file, or data as they are, got None: leave it out to audit the usual data set "
            f"({AuditConfig.model_fields['dataset'].default})"
        )
    if data is None or isinstance(data, (str, Path)):
        return chosen(config, values), None
    resolved = chosen(config, {**values, "dataset": OWN})
    return resolved, of_python("dataset", data, resolved)


def chosen(config: AuditConfig | str | Path | None, values: Mapping[str, Any]) -> AuditConfig:
    """Read the configuration that a Python caller gives."""
    named = {key: _import_string(key, value) if callable(value) else value for key, value in values.items()}
    dotted = {key.replace("__", "."): value for key, value in named.items()}
    if not isinstance(config, AuditConfig):
        return gather(config, dotted)
    given = {name: getattr(config, name) for name in config.model_fields_set}
    return gather(None, given | dotted) if dotted else config


def _import_string(key: str, value: Any) -> str:
    if not hasattr(value, "__qualname__"):
        raise InputError(
            f"{key}: expected a function or a class, which is called anew for each model, got an instance of "
            f"{type(value).__name__}: give its class, or a function that builds one"
        )
    module, name = getattr(value, "__module__", None), value.__qualname__
    if module in {None, "__main__"} or not name.replace(".", "").isidentifier():
        raise InputError(
            f"{key}: {name} of {module} cannot be imported by worker processes: put it into a file of its own and give "
            "my_file:my_function"
        )
    return f"{module}:{name}"


def gather(file: str | Path | None, values: Mapping[str, Any]) -> AuditConfig:
    """Put a configuration file and single values together; single values win."""
    problems, tree, own = Problems(), Options(), Options()
    if file is not None:
        tree = _read(read_toml(Path(file)), problems, f"{file}: ")
    for key, value in values.items():
        if value is not None:
            with problems.here():
                put(own, _path(key), str(value) if isinstance(value, Path) else deepcopy(value))
    if own:
        _read(own, problems, "")
    problems.tell()
    alone = AuditConfig(**tree)
    if file is not None:
        tree = of_attacks(tree, values)
    for key, value in values.items():
        if value is not None:
            put(tree, _path(key), str(value) if isinstance(value, Path) else deepcopy(value))
    config = AuditConfig(**_shorthand(tree))
    wrong = _contradiction(config) if file is not None else None
    if wrong is not None:
        # Values that are wrong by themselves are no fault of a file that is right by itself.
        blameless = _contradiction(alone) is None and _contradiction(gather(None, values)) is not None
        problems.found.append(wrong if blameless else wrong.prefixed(f"{file}: "))
        _options(dict(config) | {"defense": None}, problems, "")
        problems.tell()
    return config


def _read(tree: Options, problems: Problems, where: str) -> Options:
    """Bring what was said into tables, and gather all that is wrong with its keys and values.

    Methods and their options of a file are looked at, too, since what is told of them later does not name it.
    """
    wrong, known = len(problems.found), {*AuditConfig.model_fields, *Recipe.model_fields, *SHORT}
    for key in [key for key in tree if key not in known]:
        with problems.here(where):
            raise SpecError(_unknown(key, tree[key], tree.get("defense"), known), [key])
    tree = {key: value for key, value in tree.items() if key in known}
    with problems.here(where):
        tree = _shorthand(tree)
        AuditConfig(**tree)
    if where or len(problems.found) > wrong:
        _options(tree, problems, where)
    return tree


def _options(tree: Options, problems: Problems, where: str) -> None:
    """Gather what is wrong with methods, and with options of methods that are named."""
    recipe, options, queries = (tree.get(key) or {} for key in ("recipe", "attack", "queries"))
    if isinstance(recipe, dict):
        with problems.here(where):
            build_recipe({}, {key: part for key, part in recipe.items() if key not in METHODS or _named(part)})
    if isinstance(options, dict):
        with problems.here(where):
            build_attacks(AttackConfig(attacks=tree.get("attacks", ()), attack=options))
    if isinstance(queries, dict):
        with problems.here(where):
            Queries(**queries)
    if _named(tree.get("defense")):
        with problems.here(where):
            defended({}, tree["defense"])


def _named(method: Any) -> bool:
    """Whether a method is named; only its options may stand in a file, where the data set suggests its name."""
    return isinstance(method.get("name") if isinstance(method, Mapping) else method, str)


def _contradiction(config: AuditConfig) -> InputError | None:
    """Find what is wrong with a defense by itself, or beside the recipe that it stands in."""
    try:
        if config.defense is not None:
            defended(config.recipe, config.defense)
    except InputError as error:
        return error
    return None


def _path(dotted: str) -> list[str]:
    """Find the place of a key, which may be short for one in the recipe."""
    path = SHORT.get(dotted, dotted).split(".")
    return ["recipe", *path] if path[0] in Recipe.model_fields else path


def _shorthand(tree: dict[str, Any]) -> dict[str, Any]:
    """Move keys of the recipe that stand at the top into its table; refuse unknown ones with the nearest of both."""
    known, recipe_keys = set(AuditConfig.model_fields), set(Recipe.model_fields)
    if "train" in tree:
        tree = deepcopy(tree)
        put(tree, _path("train"), tree.pop("train"))
    if isinstance(tree.get("attack"), (str, list)):
        raise SpecError("attack: holds options, one table an attack; which attacks to run stands under attacks")
    recipe = tree.get("recipe", {})
    if not isinstance(recipe, dict):
        raise SpecError(f"recipe: expected a table, got {recipe!r}")
    twice = [key for key in tree if key in recipe]
    if twice:
        raise SpecError(f"{twice[0]}: given twice, at the top and in [recipe]: leave one out", twice[:1])
    recipe = {key: value for key, value in tree.items() if key in recipe_keys} | recipe
    rest = {key: value for key, value in tree.items() if key in known}
    return rest | ({"recipe": recipe} if recipe else {})


def _unknown(key: str, value: Any, defense: Any, known: set[str]) -> str:
    """Say what an unknown key may have meant: an option of a defense, or another key."""
    text = placed(key, value, [defense] if isinstance(defense, str) else [])
    if text is None:
        return f"unknown key {key!r}: {nearest(key, known)}"
    return (
        f"unknown key {key!r}: it is an option of the defense {' or '.join(owners(key))}: "
        f"give it with the name, defense={text!r}"
    )


def prepare(
    config: AuditConfig, records: Records | None = None, *, attacked: bool = True, reference: bool = False
) -> Job:
    """Check everything that can be checked before training: data, roles, recipe, attacks and their references.

    With `reference`, reference non-members are needed whatever the recipe is.
    """
    from reticent.population.worker import choose_device

    suggested: Options = dict(DATASETS[config.dataset].suggested) if config.dataset in DATASETS else {}
    usual: int = suggested.pop("models", DEFAULT_MODELS)
    models = config.models or usual
    problems, attacks = Problems(), tuple[Spec, ...]()
    with problems.here():
        trainer = executor(config, choose_device(config.device, elsewhere=config.executor == "ray"), models)
    with problems.here():
        attacks = build_attacks(config) if attacked else ()
    with problems.here():
        queries = Queries(**config.queries)
    given = config.recipe
    with problems.here():
        given = given if config.defense is None else defended(given, config.defense)
    with problems.here():
        records = load(config.dataset, data_dir=config.data_dir, **config.given()) if records is None else records
    if records is not None:
        with problems.here():
            recipe = build_recipe(suggested or BY_KIND[records.kind], given, config.dataset)
    problems.tell()
    assert records is not None
    check_used(recipe, given)
    whole = _units(config, records)
    roles = _roles(config, reference or bool(needs(recipe)), records, whole)
    units = None if whole is None else whole.among(roles.audited)
    partitions = grouping.of_records(records, roles.audited, config.group_by)
    if units is None:
        membership = Membership.draw(models, len(roles.audited), config.seed)
    else:
        membership = units.draw(models, config.seed)
    recipe = at_delta(recipe, config, membership.matrix.sum(axis=1))
    offer = Offer(records.classes, len(queries.views()), logits=True, population=len(roles.population) > 0)

    def fits(spec: Spec) -> None:
        check_offer(spec, offer)
        check_membership(spec, membership, units=units)
        replicas.check([spec], recipe, unaware=config.also_non_adaptive)
        attack_inputs.check([spec], records.kind, len(roles.population), given=not config.also_non_adaptive)

    attacks, left_out = before_training(config, attacks, fits, answers=membership.matrix.size)
    population = Population(recipe, records, roles, membership, config.seed, queries, probes=asked_by(attacks))
    members = int(membership.matrix.sum(axis=1).min())
    held = {"reference": len(roles.reference), "validation": len(roles.validation)}
    check_records(recipe, records, **held, members=members)
    population = stacking.chosen(population, at(config.store), config.stack, trainer.device)
    if config.also_non_adaptive:
        by_record(config)
        undefended(recipe)
    return Job(config, records, population, attacks, trainer, partitions, left_out, units)


def _units(config: AuditConfig, records: Records) -> Units | None:
    """Read which unit each record belongs to; None where records are audited."""
    grouping.check_unit(config)
    return None if config.unit is None else units_of(records, config.unit, config.unit_score)


def by_record(config: AttackConfig) -> None:
    """Refuse units where all that is measured is of records."""
    if config.unit is not None or config.unit_score != "mean":
        raise InputError(
            "unit: only reticent audit and attack are of units, and not with --also-non-adaptive: leave it out here"
        )


def _roles(config: AuditConfig, needed: bool, records: Records, units: Units | None = None) -> Roles:
    """Divide the records; where the user does not say how many the defender has, a fifth if any are needed."""
    sizes = {"validation": config.validation, "population": config.population}
    if config.reference is not None or not needed:
        return Roles.split(
            records, config.seed, audited=config.records, reference=config.reference or 0, units=units, **sizes
        )
    usual = len(records) // 5
    if config.records:
        usual = max(0, min(usual, len(records) - config.records - sum(sizes.values())))
    for fewer in range(usual, max(0, usual - DUPLICATES), -1):
        try:
            return Roles.split(records, config.seed, audited=config.records, reference=fewer, units=units, **sizes)
        except RolesError:  # Exact duplicates are not split between roles.
            continue
    return Roles.split(records, config.seed, audited=config.records, reference=usual, units=units, **sizes)


def executor(config: AuditConfig, device: str, models: int) -> Executor:
    """Say who trains so many models; refuse what that executor has no use for."""
    if config.address is not None and config.executor != "ray":
        raise InputError(f"address: is of a Ray cluster, and the executor is {config.executor}: give --executor ray")
    if config.executor == "inline" and (config.workers or 1) > 1:
        raise InputError(
            f"workers: the executor inline trains in this process alone, got {config.workers} workers: leave one of "
            "the two out"
        )
    if config.executor == "ray" and device not in {"cpu", "cuda"}:
        raise InputError(f"device: with the executor ray, Ray says which GPU a model gets: give cuda, got {device}")
    if config.executor == "ray" and device == "cpu" and config.workers is not None:
        raise InputError("workers: with the executor ray on the CPU a model takes a core of the cluster: leave it out")
    one = device != "cpu" or config.executor in {"inline", "ray"}
    workers = config.workers or (1 if one else min(cores(), models))
    return Executor(config.executor, config.address, workers, device)
