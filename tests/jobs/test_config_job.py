"""What a user says, in a file, by flags or in Python, and the job that it becomes."""

from pathlib import Path

import numpy as np
import pytest

from reticent.attacks import ATTACKS
from reticent.data.datasets import DATASETS
from reticent.data.records import Records
from reticent.errors import InputError, ReticentError, SpecError, UnknownNameError
from reticent.jobs.config import build_attacks, called, chosen, gather, prepare
from reticent.jobs.defenses import defended
from reticent.jobs.recipes import build_recipe
from reticent.models import ARCHITECTURES
from reticent.models.cnn import CNN
from reticent.models.mlp import MLP
from reticent.models.transformer import Transformer
from reticent.objectives import OBJECTIVES
from reticent.objectives.hamp import Hamp
from reticent.objectives.relaxloss import RelaxLoss
from reticent.options import AuditConfig
from reticent.population.executors import Executor
from reticent.training.recipe import Recipe


@pytest.fixture
def toml(tmp_path):
    def write(text):
        path = tmp_path / "audit.toml"
        path.write_text(text)
        return path

    return write


def recipe_of(config):
    return prepare(config).population.recipe


def test_without_anything_the_defaults_hold():
    assert gather(None, {}) == AuditConfig()
    assert gather(None, {"epochs": None, "models": None}) == AuditConfig()


def test_single_values_win_over_the_file(toml):
    file = toml("models = 8\nseed = 3\nepochs = 5\nattacks = ['lira']\n[recipe]\nlearning_rate = 0.5\n")
    config = gather(file, {"models": 6, "epochs": 2, "recipe.learning_rate": 0.25})
    assert (config.models, config.seed, config.attacks) == (6, 3, ("lira",))
    assert config.recipe == {"epochs": 2, "learning_rate": 0.25}


def test_all_attacks_are_those_that_fit(toml):
    file = toml("attacks = ['lira']\n[attack.lira]\nvariance = 'pooled'\n")
    config = gather(file, {"attacks": "all", "models": 4, "epochs": 1, "records": 60})
    job = prepare(config)
    assert {spec.method for spec in job.attacks} == set(ATTACKS) - set(job.left_out)
    assert next(spec for spec in job.attacks if spec.method == "lira").variance == "pooled"
    assert list(job.left_out) == ["pmia", "selena-replica", "imia", "learned", "trajectory"]
    assert job.left_out["pmia"].startswith("pmia was left out: expected at least ")
    assert list(prepare(config.replace(attacks=())).left_out) == ["learned"]


@pytest.mark.parametrize(
    "text",
    [
        "epochs = 3\narchitecture = {name = 'mlp', widths = [8]}",
        "[recipe]\nepochs = 3\narchitecture = {name = 'mlp', widths = [8]}",
        "epochs = 3\n[recipe.architecture]\nname = 'mlp'\nwidths = [8]",
        "epochs = 3\n[architecture]\nname = 'mlp'\nwidths = [8]",
        "epochs = 3\n[architecture]\nwidths = [8]",
    ],
)
def test_keys_of_the_recipe_stand_at_the_top_or_in_their_table(toml, text):
    recipe = recipe_of(gather(toml("records = 60\nmodels = 4\nworkers = 1\n" + text), {}))
    assert (recipe.epochs, recipe.architecture) == (3, MLP(widths=(8,)))


@pytest.mark.parametrize(
    "text", ["architecture = 'mlp'", "[recipe]\narchitecture = 'mlp'", "[recipe.architecture]\nname = 'mlp'"]
)
@pytest.mark.parametrize("key", ["architecture.widths", "recipe.architecture.widths"])
def test_dotted_keys_reach_into_a_method_given_by_name(toml, text, key):
    config = gather(toml(text), {key: [8, 4]})
    assert config.recipe == {"architecture": {"name": "mlp", "widths": [8, 4]}}
    assert build_recipe({}, config.recipe).architecture == MLP(widths=(8, 4))


def test_dotted_keys_keep_what_the_file_says_beside_them(toml):
    config = gather(toml("architecture = {name = 'mlp', widths = [8]}"), {"recipe.architecture.dropout": 0.5})
    assert build_recipe({}, config.recipe).architecture == MLP(widths=(8,), dropout=0.5)


def test_another_architecture_by_a_flag_drops_the_options_of_the_file(toml):
    file = toml("epochs = 3\narchitecture = {name = 'mlp', widths = [8]}")
    assert gather(file, {"recipe.architecture.name": "mlp"}).recipe["architecture"] == {"name": "mlp", "widths": [8]}
    assert gather(file, {"recipe.architecture.name": "cnn"}).recipe == {"epochs": 3, "architecture": {"name": "cnn"}}


def test_attack_tables_become_options(toml):
    file = toml("attacks = ['lira', 'loss']\n[attack.lira]\nvariance = 'pooled'\n")
    lira, loss = build_attacks(gather(file, {"attack.lira.mode": "offline"}))
    assert (lira.method, lira.variance, lira.mode) == ("lira", "pooled", "offline")
    assert loss.method == "loss"


def test_options_in_the_file_of_attacks_that_a_flag_leaves_out_are_no_error(toml):
    file = toml("[attack.lira]\nvariance = 'pooled'\n[attack.rmia]\ngamma = 3.0\n")
    (lira,) = build_attacks(gather(file, {"attacks": ["lira"]}))
    assert lira.variance == "pooled"
    with pytest.raises(SpecError, match=r"attack\.rmia: options are given, but the attack is not among those to run"):
        build_attacks(gather(file, {"attacks": ["lira"], "attack.rmia.gamma": 2.0}))
    with pytest.raises(UnknownNameError, match="unknown attack 'lirra': did you mean 'lira'"):
        build_attacks(gather(toml("[attack.lirra]\nvariance = 'pooled'\n"), {"attacks": ["lira"]}))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("dataest = 'digits'", "audit.toml: unknown key 'dataest': did you mean 'dataset'"),
        ("epoch = 3", "audit.toml: unknown key 'epoch': did you mean 'epochs'"),
        ("attack = 'lira'", "audit.toml: attack: holds options, one table an attack; which attacks to run stands un"),
        ("attack = ['lira']", "which attacks to run stands under attacks"),
        ("recipe = 3", "audit.toml: recipe: expected a table, got 3"),
        ("epochs = 3\n[recipe]\nepochs = 4", "audit.toml: epochs: given twice, at the top and in [recipe]"),
        ("models = 'many'", "audit.toml: models: expected a whole number, got 'many'"),
        ("models = 1", "models: expected greater than or equal to 2, got 1"),
        ("[attack]\nlira = 'pooled'", "attack.lira: expected a table, got 'pooled'"),
        ("[recipe]\nlearning_rat = 1.0", "unknown key 'learning_rat': did you mean 'learning_rate'"),
        ("[architecture]\nname = 'mlp'\nwidht = [8]", "mlp: unknown key 'widht': did you mean 'widths'"),
        ("architecture = 'mpl'", "unknown architecture (or module:name of your own) 'mpl': did you mean 'mlp'"),
        ("architecture = 3", "architecture: expected a name, or a table with a name, got"),
        ("objective = 'cross-entropi'", "unknown objective 'cross-entropi': did you mean 'cross-entropy'"),
        ("procedure = 'plane'", "unknown procedure (or module:name of your own) 'plane': did you mean 'plain'"),
        ("[attack.lirra]", "unknown attack 'lirra': did you mean 'lira'"),
        ("[attack.lira]\nvarianc = 1", "lira: unknown key 'varianc': did you mean 'variance'"),
        ("[queries]\nmiror = true", "queries: unknown key 'miror': did you mean 'mirror'"),
        ("optimizer = 'sdg'", "optimizer: expected 'sgd', 'adam' or 'adamw', got 'sdg'"),
        ("epochs = 2.5", "epochs: expected a whole number, got 2.5"),
    ],
)
def test_a_wrong_file_is_told_with_the_key_and_the_nearest(toml, text, words):
    with pytest.raises(ReticentError) as caught:
        prepare(gather(toml(text), {}))
    assert words in str(caught.value)


def test_a_wrong_single_value_does_not_blame_the_file(toml):
    file = toml("models = 8")
    for values, words in (
        ({"epohcs": 3}, "unknown key 'epohcs': did you mean 'epochs'"),
        ({"models": 1}, "models: expected greater than or equal to 2, got 1"),
        ({"models.many": 1}, "models: expected a whole number, got {'many': 1}"),
    ):
        with pytest.raises(SpecError) as caught:
            gather(file, values)
        assert str(caught.value).startswith(words)


def test_all_that_is_wrong_is_told_at_once(toml):
    file = toml(
        "modles = 4\nreplicates = 'many'\n[recipe]\nbatch_sise = 8\nepochs = 0\n[attack.lira]\nvarianse = 'x'\n"
        "[attack.rmai]\nx = 1"
    )
    with pytest.raises(SpecError) as caught:
        gather(file, {"confidence": 3.0, "epocs": 2})
    told = str(caught.value).split("\n")
    in_file = (
        "unknown key 'modles'",
        "replicates",
        "epochs",
        "unknown key 'batch_sise'",
        "lira: unknown key 'varianse'",
    )
    assert all(any(line.startswith(f"{file}: {words}") for line in told) for words in in_file)
    assert any(line.startswith(f"{file}: unknown attack 'rmai'") for line in told)
    assert any(line.startswith("unknown key 'epocs'") for line in told)
    assert any(line.startswith("confidence: ") for line in told)
    with pytest.raises(SpecError) as caught:
        prepare(gather(None, {"attacks": ["lria", "rmai"], "architecture": "mpl", "defense": "relaxlos"}))
    assert [line.split("'")[1] for line in str(caught.value).split("\n")] == ["lria", "rmai", "relaxlos", "mpl"]
    assert [type(one) for one in caught.value.problems] == [UnknownNameError] * 4


def test_methods_in_a_file_are_looked_at_in_the_same_round_and_named(toml):
    text = "modles = 3\ndefense = 'relaxlos'\n[queries]\nmiror = true\n[recipe.architecture]\nname = 'mlp'\nwidht = 3"
    with pytest.raises(SpecError) as caught:
        gather(toml(text), {})
    told = [line.partition("audit.toml: ")[2].partition(": did")[0] for line in str(caught.value).split("\n")]
    unknown = ["unknown key 'modles'", "mlp: unknown key 'widht'", "queries: unknown key 'miror'"]
    assert told == [*unknown, "unknown defense 'relaxlos'"]
    assert caught.value.keys == ("modles", "mlp.widht", "queries.miror")
    with pytest.raises(SpecError) as caught:
        gather(toml("defense = 'relaxlos'\n[attack.lira]\nvarianse = 1"), {})
    told = {str(one).partition("audit.toml: ")[2].partition(": did")[0] for one in caught.value.problems}
    assert told == {"unknown defense 'relaxlos'", "lira: unknown key 'varianse'"}


def test_a_file_that_is_no_toml_is_named_once(toml):
    with pytest.raises(SpecError) as caught:
        gather(toml("models = = 8"), {})
    assert str(caught.value).count("audit.toml") == 1


def test_digits_come_with_their_suggestions():
    job = prepare(AuditConfig(workers=1))
    assert job.population.models == 64
    assert job.population.recipe == Recipe(architecture=MLP(), learning_rate=2e-3, epochs=40, batch_size=64)
    assert len(job.population.roles.audited) == 1797
    assert len(job.attacks) == 5


def test_another_architecture_drops_the_options_of_the_suggested_one_and_keeps_the_rest():
    suggested = {"architecture": {"name": "mlp", "widths": [8]}, "epochs": 7, "learning_rate": 0.5}
    assert build_recipe(suggested, {}).architecture == MLP(widths=(8,))
    assert build_recipe(suggested, {"architecture": {"dropout": 0.5}}).architecture == MLP(widths=(8,), dropout=0.5)
    assert build_recipe(suggested, {"architecture": "mlp"}).architecture == MLP(widths=(8,))
    other = build_recipe(suggested, {"architecture": "cnn"})
    assert (other.architecture, other.epochs, other.learning_rate) == (CNN(), 7, 0.5)


def test_a_users_module_is_hashed_into_the_recipe(own_folder):
    (own_folder / "mine_net.py").write_text("import torch\ndef net(classes): return torch.nn.Linear(64, classes)\n")
    first = build_recipe({}, {"architecture": "mine_net:net"}).architecture
    assert (first.method, first.factory, len(first.source)) == ("import", "mine_net:net", 20)
    again = build_recipe({"architecture": "mlp"}, {"architecture": {"name": "mine_net:net"}}).architecture
    assert again == first
    (own_folder / "mine_other.py").write_text("import torch\ndef net(classes): return torch.nn.Linear(64, classes)\n")
    assert build_recipe({}, {"architecture": "mine_other:net"}).architecture.source != first.source


def test_a_users_training_function_is_hashed_into_the_recipe(own_folder):
    (own_folder / "mine_train.py").write_text("def train(x, y, seed): ...\n")
    procedure = build_recipe({}, {"procedure": "mine_train:train"}).procedure
    assert (procedure.method, procedure.function, len(procedure.source)) == ("function", "mine_train:train", 20)


def test_own_images_get_the_cnn(images):
    recipe = recipe_of(AuditConfig(dataset=str(images), models=4))
    assert (recipe.architecture, recipe.epochs) == (CNN(), 30)


def test_own_features_get_the_mlp(tmp_path):
    np.savez(tmp_path / "own.npz", x=np.random.default_rng(0).normal(size=(60, 5)), y=np.arange(60) % 3)
    recipe = recipe_of(AuditConfig(dataset=str(tmp_path / "own.npz"), models=4))
    assert (recipe.architecture, recipe.epochs) == (MLP(), 40)


def test_own_tokens_get_the_transformer(tmp_path):
    np.savez(tmp_path / "own.npz", x=np.arange(240).reshape(60, 4) % 9, y=np.arange(60) % 3)
    recipe = recipe_of(AuditConfig(dataset=str(tmp_path / "own.npz"), models=4))
    assert (recipe.architecture, recipe.epochs) == (Transformer(), 20)


def test_tokens_for_an_architecture_that_takes_none_are_refused(tmp_path):
    np.savez(tmp_path / "own.npz", x=np.arange(240).reshape(60, 4) % 9, y=np.arange(60) % 3)
    with pytest.raises(InputError, match=r"got tokens of shape \(4,\): give another --architecture, or module:factory"):
        prepare(AuditConfig(dataset=str(tmp_path / "own.npz"), models=4, recipe={"architecture": "mlp"}))


def test_python_callers_give_paths_tuples_and_double_underscores(tmp_path):
    config = chosen(None, {"store": tmp_path / "s", "attacks": ("lira",), "attack__lira__variance": "pooled"})
    assert config == AuditConfig(store=str(tmp_path / "s"), attacks=("lira",), attack={"lira": {"variance": "pooled"}})
    given = {"lira-released": {"fix_variance": True}}
    assert chosen(None, {"attack": given}).attack == given


def test_values_change_a_copy_of_a_configuration():
    config = AuditConfig(models=8, recipe={"epochs": 3, "architecture": {"name": "mlp"}})
    changed = chosen(config, {"learning_rate": 0.5, "architecture__widths": [4], "models": 6})
    assert (changed.models, changed.recipe["epochs"], changed.recipe["learning_rate"]) == (6, 3, 0.5)
    assert config == AuditConfig(models=8, recipe={"epochs": 3, "architecture": {"name": "mlp"}})
    assert chosen(config, {}) is config


def test_the_path_of_a_file_may_be_a_text(toml):
    file = toml("models = 8")
    assert chosen(str(file), {"seed": 1}) == chosen(Path(file), {"seed": 1}) == AuditConfig(models=8, seed=1)


def test_an_unknown_attack_is_told():
    with pytest.raises(UnknownNameError, match="unknown attack 'lirra': did you mean 'lira'"):
        build_attacks(AuditConfig(attacks=("lirra",)))


def test_train_is_short_for_the_procedure(tmp_path, monkeypatch):
    (tmp_path / "a.toml").write_text("train = 'json:dumps'\n")
    expected = {"procedure": {"name": "json:dumps"}}
    assert gather(tmp_path / "a.toml", {}).recipe == expected
    assert gather(None, {"train": "json:dumps"}).recipe == expected
    assert chosen(None, {"train": "json:dumps"}).recipe == expected


def test_none_is_no_data_set():
    with pytest.raises(InputError, match="dataset: expected a name, a file, or data as they are, got None"):
        called(None, {"dataset": None})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"attack": {"rmia": {"population": "held-out"}}}, "population='held-out' expected records that no model was"),
        ({"attack": {"lira": {"queries": 2}}}, "lira: queries: expected at most 1, which the signals hold, got 2"),
        ({"attack": {"lira-released": {"queries": 2}}}, "lira-released: queries: expected at most 1"),
        ({"attack": {"rmia": {"queries": 3}}}, "rmia: queries: expected at most 1"),
        (
            {"attack": {"rmia": {"signal": "taylor"}}, "queries": {"mirror": True}},
            "expected one query for signal='taylor'",
        ),
        (
            {"attack": {"rmia": {"temperature": 3.0}}, "queries": {"mirror": True}},
            "at temperature=3.0, since logits are",
        ),
    ],
)
def test_options_of_attacks_that_need_what_the_run_will_not_hold_are_refused_before_training(changes, words):
    config = AuditConfig(dataset="digits", models=4, records=40, attacks=tuple(changes["attack"]), **changes)
    with pytest.raises(InputError, match=words):
        prepare(config)


def test_options_of_attacks_whose_needs_are_met_are_taken():
    options = {"rmia": {"population": "held-out", "queries": 1, "signal": "sm-taylor"}, "lira": {"queries": 1}}
    config = AuditConfig(
        dataset="digits", models=4, records=40, population=20, attack=options,
        attacks=("rmia", "lira"),
    )  # fmt: skip
    assert [spec.method for spec in prepare(config).attacks] == ["rmia", "lira"]


@pytest.mark.parametrize(
    ("dataset", "classes", "gamma", "released"),
    [
        ("cifar10", 10, 0.95, 0.001),
        ("cifar100", 100, 0.5, 0.005),
        ("location30", 30, 0.5, 0.001),
        ("purchase100", 100, 0.8, 0.01),
        ("texas100", 100, 0.6, 0.01),
    ],
)
def test_hamp_has_its_authors_values_for_a_data_set_that_they_give_them_for(dataset, classes, gamma, released):
    made = build_recipe({}, {"objective": "hamp"}, dataset).objective
    assert made.gamma == gamma
    assert made.alpha == pytest.approx(released * classes)
    as_released = build_recipe({}, defended({}, "hamp:kl_scale=element"), dataset).objective
    assert as_released == Hamp(gamma=gamma, alpha=released, kl_scale="element")
    own = defended({}, "hamp:kl_scale=element,alpha=0.7")
    assert build_recipe({}, own, dataset).objective == Hamp(gamma=gamma, alpha=0.7, kl_scale="element")
    assert build_recipe({}, {"objective": "hamp"}, "mine.csv").objective == Hamp()


@pytest.mark.parametrize(
    ("dataset", "network", "level", "upper"),
    [
        ("cifar10", "resnet20", 1.0, 1.0),
        ("cifar10", "vgg11", 0.4, 1.0),
        ("cifar100", "resnet20", 3.0, 1.0),
        ("cifar100", "vgg11", 0.5, 1.0),
        ("purchase100", "mlp", 0.8, 0.3),
        ("texas100", "mlp", 2.5, 0.1),
        ("location30", "mlp", 1.0, 1.0),
    ],
)
def test_relaxloss_has_its_authors_values_by_data_set_and_network(dataset, network, level, upper):
    given = {"objective": "relaxloss", "architecture": network}
    assert build_recipe({}, given, dataset).objective == RelaxLoss(level=level, upper=upper)
    assert build_recipe({"architecture": network}, {"objective": "relaxloss"}, dataset).objective.level == level


def test_what_the_user_gives_wins_over_the_authors_value_option_by_option():
    made = build_recipe({}, defended({}, "cwrf+hamp:gamma=0.3"), "cifar10").objective
    assert made == Hamp(gamma=0.3, alpha=0.01)


def test_every_value_of_an_author_belongs_to_a_data_set_and_an_architecture_that_exist():
    for objective, entry in OBJECTIVES.items():
        for place, options in entry.published.items():
            dataset, _, other = place.partition("/")
            key, beside, value = other.partition("=")
            assert dataset in DATASETS
            assert not key or key in (entry.spec.model_fields if beside else ARCHITECTURES)
            assert not beside or entry.spec(**{key: value})
            assert OBJECTIVES[objective].spec(**options)


def test_the_authors_values_are_in_the_recipe_of_the_job_and_in_its_identity():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 10
    records = Records.make(rng.integers(0, 256, (200, 8, 8, 3), dtype=np.uint8), y)
    given = {"defense": "hamp", "models": 4, "architecture": "cnn", "store": "unused"}
    named, other = (prepare(gather(None, given | {"dataset": d}), records).population for d in ("cifar10", "mine:load"))
    assert (named.recipe.objective, other.recipe.objective) == (Hamp(gamma=0.95, alpha=0.01), Hamp())
    assert named.training_id(0) != other.training_id(0)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"address": "head:6379"}, r"address: is of a Ray cluster, and the executor is auto: give --executor ray"),
        ({"executor": "inline", "workers": 3}, r"workers: the executor inline .* alone, got 3 workers: leave one"),
        (
            {"executor": "ray", "workers": 3, "device": "cpu"},
            r"workers: with the executor ray on the CPU a model",
        ),
        ({"executor": "slurm"}, r"executor: .*'inline'.*'ray'"),
    ],
)
def test_what_an_executor_has_no_use_for_is_refused(given, words):
    with pytest.raises(InputError, match=words):
        prepare(chosen(None, given))


def test_an_inline_audit_has_one_worker_and_ray_is_asked_for_a_gpu_that_is_elsewhere():
    assert prepare(chosen(None, {"executor": "inline", "device": "cpu"})).executor.workers == 1
    job = prepare(chosen(None, {"executor": "ray", "device": "cuda", "workers": 4, "address": "head:6379"}))
    assert job.executor == Executor("ray", "head:6379", 4, "cuda")
