"""What each verb prints, writes and answers; help that loads nothing heavy; an interruption."""

import json
import re
import subprocess
import sys
from dataclasses import fields
from typing import get_args

import numpy as np
import pytest

import reticent
from reticent.cli import VERBS, app
from reticent.cli.flags import Flags, setting
from reticent.cli.run import guarded
from reticent.data.datasets import DATASETS
from reticent.errors import SpecError
from reticent.options import AuditConfig, DataOptions
from reticent.training.recipe import Recipe

SMALL = "--records 60 --models 4 --epochs 2 --workers 1 --set replicates=100"
HEAVY = ("torch", "numpy", "matplotlib", "scipy", "sklearn", "pydantic")


def words(text):
    return " ".join(text.split())


def python(*arguments, cwd=None):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=60, cwd=cwd)


@pytest.mark.parametrize("line", ["--help", "--version", ""])
def test_help_lists_the_verbs_and_loads_nothing_heavy(line):
    script = (
        "import sys, reticent.cli\n"
        f"sys.argv = ['reticent', *{line.split()!r}]\n"
        "try:\n    reticent.cli.main()\n"
        f"finally:\n    print('loaded', [name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    result = python("-c", script)
    assert result.returncode == 0, result.stderr
    assert "loaded []" in result.stdout
    if line == "--version":
        assert result.stdout.splitlines()[0] == reticent.__version__
    else:
        assert all(f" {verb} " in result.stdout for verb in ("audit", "plan", "attack", "data"))


@pytest.mark.slow
def test_python_dash_m_is_the_command():
    result = python("-m", "reticent", "--version")
    assert (result.returncode, result.stdout.strip(), result.stderr) == (0, reticent.__version__, "")
    assert python("-m", "reticent", "adit").returncode == 2


def leaves(group, words=()):
    """List every command, with its flags that take a whole number."""
    for name in (name for name in group if not name.startswith("-")):
        command = group[name]
        below = list(leaves(command, (*words, name)))
        yield from below
        if not below:
            flags = command.assemble_argument_collection(parse_docstring=False)
            yield [*words, name], [flag for flag in flags if int in {flag.hint, *get_args(flag.hint)}]


NEEDED = {
    "attack": "--signals a.npz",
    "compare": "--defense relaxloss",
    "search": "--defense relaxloss --over level=1,2",
    "study": "cwrf-ablation",
    "data": "digits",
    "harden": "--model a:b --weights a --members a --reference a --method cwrf",
}
"""What must be given beside any other flag."""


@pytest.mark.parametrize("most", [1, pytest.param(None, marks=pytest.mark.slow)])
def test_no_flag_of_any_command_rounds_a_fraction(capfd, most, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tried = set()
    for line, flags in leaves(app):
        for flag in flags[:most]:
            assert guarded(app, [*line, *NEEDED.get(line[0], "").split(), flag.name, "2.5"]) == 2
            told = words(capfd.readouterr().err)
            key = flag.name.removeprefix("--").replace("-", "[-_]")
            refused = rf"{key}: (expected a whole number(, or 'auto')?, got '?2\.5|means nothing to)"
            assert re.search(refused, told), (line, flag.name)
            tried.add((line[0], flag.name))
    assert {"audit", "locate", "study", "attack"} <= {verb for verb, _ in tried}
    if most is None:
        assert {("audit", "--models"), ("locate", "--seeds"), ("study", "--workers"), ("attack", "--seed")} <= tried
        assert len(tried) > 40


def test_all_flags_that_are_wrong_are_told_at_once(capfd):
    assert guarded(app, ["audit", "--models", "abc", "--learning-rate", "y", "--confidence", "2", "--foo", "1"]) == 2
    told = words(capfd.readouterr().err)
    assert "unknown flag --foo: " in told
    assert "models: expected a whole number, got 'abc'" in told
    assert "learning_rate: expected a number, got 'y'" in told
    assert "confidence: expected less than 1, got 2.0" in told


def test_the_full_help_of_a_verb_tells_all_of_it_in_groups(capfd):
    """It was the line of the list of verbs alone, and numbers were once offered as INT|STR."""
    assert guarded(app, ["harden", "--help-all"]) == 0
    told = words(capfd.readouterr().out)
    assert told.index("References and the repair are kept in the store") < told.rindex("--weights PATH")
    assert (
        told.rindex("--weights PATH") < told.index("Data ─") < told.index("--models INT ") < told.index("Machine and")
    )
    assert app["harden"].help == VERBS["harden"]  # As in the list of verbs, which is shown next.


def test_flags_are_keys_of_the_configuration():
    names = {field.name for field in fields(Flags)} - {"config", "set"}
    assert names - {"train"} <= set(AuditConfig.model_fields) | set(Recipe.model_fields)
    assert {
        "dataset",
        "data_dir",
        "architecture",
        "models",
        "epochs",
        "seed",
        "workers",
        "device",
        "store",
        "out",
    } <= names
    told = Flags(not_features=["id"], rare=["a=b=10", "c=3"], hash=["d=64"], missing="indicator").values()
    assert told == {"not_features": ["id"], "rare": {"a=b": 10, "c": 3}, "hash": {"d": 64}, "missing": "indicator"}
    given = {"models": 4, "epochs": 2, "attacks": ["lira"], "train": "mine:train", "architecture": "cnn"}
    assert Flags(**given, set=["recipe.patience=3"]).values() == {
        "models": 4,
        "epochs": 2,
        "attacks": ["lira"],
        "train": "mine:train",
        "recipe.architecture.name": "cnn",
        "recipe.patience": 3,
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("attack.lira.variance=pooled", ("attack.lira.variance", "pooled")),
        ("recipe.patience = 3", ("recipe.patience", 3)),
        ("attack.rmia.a=0.5", ("attack.rmia.a", 0.5)),
        ("queries.mirror=true", ("queries.mirror", True)),
        ("recipe.milestones=[0.25, 0.5]", ("recipe.milestones", [0.25, 0.5])),
        ('dataset="a=b"', ("dataset", "a=b")),
        ("dataset=a=b", ("dataset", "a=b")),
    ],
)
def test_settings_are_toml_or_else_texts(text, expected):
    assert setting(text) == expected


@pytest.mark.parametrize("text", ["epochs", "=3", " = 3"])
def test_settings_without_key_or_value_are_refused(text):
    with pytest.raises(SpecError, match=r"expected key=value, such as attack\.lira\.variance=pooled"):
        setting(text)


def test_audit_prints_the_verdict_the_table_and_the_files(command, tmp_path):
    code, out, err = command(f"audit {SMALL} --attack lira --attack loss --out here")
    assert code == 0, err
    document = json.loads((tmp_path / "here" / "audit.json").read_text())
    assert document["verdict"]["sentence"] in words(out)
    assert [attack["name"] for attack in document["attacks"]] == ["lira", "loss"]
    for attack in document["attacks"]:
        assert any(line.startswith(attack["name"]) for line in out.splitlines())
        assert f"{attack['overall']['auc']['mean']:.3f}" in out
    assert out.splitlines()[-3:] == ["here/report.html", "here/records.csv", "here/audit.json"]
    assert "models 4/4" in err
    assert "on non-members" in err
    assert document["environment"]["command"] == [] or "audit" in document["environment"]["command"]


def test_audit_finds_what_is_finished(command):
    command(f"audit {SMALL} --attack loss")
    code, _, err = command(f"audit {SMALL} --attack loss")
    assert code == 0
    assert "4 found" in err


def test_plan_prints_costs_and_rates_and_leaves_nothing(command, tmp_path):
    code, out, err = command(f"plan {SMALL} --store here")
    assert code == 0, err
    assert list(tmp_path.iterdir()) == []
    rows = dict(line.strip().split(": ", 1) for line in out.splitlines())
    assert rows["models"].endswith("4, of which 0 are finished in here")
    assert "85,002 parameters, " in rows["one model"]
    assert rows["training"].endswith(" in one process")
    assert rows["disk"].endswith("about 3 MiB")
    assert "non-members among 60 records" in rows["smallest FPR"]
    assert "TPR at FPR 0.01: not measurable: needs 100 non-members a model" in out
    command(f"audit {SMALL} --attack loss --store here")
    assert "none: all models are finished" in command(f"plan {SMALL} --store here")[1]


def test_attack_runs_on_outputs_and_saves_scores(command, outputs, tmp_path):
    code, out, err = command(f"attack --signals {outputs()} --attack lira --out here --scores s.npy")
    assert code == 0, err
    document = json.loads((tmp_path / "here" / "audit.json").read_text())
    assert document["verdict"]["sentence"] in words(out)
    assert document["data"]["name"] == "outputs.npz"
    assert out.splitlines()[-4:] == ["here/report.html", "here/records.csv", "here/audit.json", "s.npy"]
    assert "earlier report" not in err
    _, _, err = command("attack --signals outputs.npz --attack correctness --out here")
    told = "here holds an earlier report: it lies in here/earlier until this one is written, which replaces it"
    assert words(err) == told
    code, _, err = command("attack --signals outputs.npz --attack loss --set attack.lira.mode=offline --out here")
    assert code == 2
    assert "earlier report" not in err
    scores = np.load(tmp_path / "s.npy", allow_pickle=False)
    assert scores.shape == (8, 60)
    with np.load(outputs()) as file:
        members = file["membership"]
    aucs = [
        (a[m][:, None] > a[~m]).mean() + (a[m][:, None] == a[~m]).mean() / 2
        for a, m in zip(scores, members, strict=True)
    ]
    assert document["attacks"][0]["overall"]["auc"]["mean"] == pytest.approx(np.mean(aucs), abs=1e-12)


@pytest.mark.slow
def test_attack_takes_options_from_flags_and_files(command, outputs, tmp_path):
    (tmp_path / "a.toml").write_text("attacks = ['lira', 'loss']\n[attack.lira]\nmode = 'offline'\n")
    line = f"attack --signals {outputs()} --config a.toml --set attack.lira.variance=pooled --set replicates=100"
    code, _, err = command(f"{line} --scores s.npz")
    assert code == 0, err
    attacks = json.loads((tmp_path / "reticent-attack" / "audit.json").read_text())["attacks"]
    assert [attack["name"] for attack in attacks] == ["lira", "loss"]
    assert (attacks[0]["spec"]["mode"], attacks[0]["spec"]["variance"]) == ("offline", "pooled")
    with np.load(tmp_path / "s.npz", allow_pickle=False) as file:
        assert sorted(file.files) == ["lira", "loss"]
    code, _, err = command(f"attack --signals {outputs()} --config a.toml --attack loss")
    assert code == 0, err
    attacks = json.loads((tmp_path / "reticent-attack" / "audit.json").read_text())["attacks"]
    assert [attack["name"] for attack in attacks] == ["loss"]


def test_attack_takes_its_seed_from_the_file_unless_a_flag_says_otherwise(command, outputs, tmp_path):
    (tmp_path / "a.toml").write_text("seed = 5\nreplicates = 100\nattacks = ['loss']\n")

    def interval(*flags):
        command(f"attack --signals {outputs()} --config a.toml", *flags)
        document = json.loads((tmp_path / "reticent-attack" / "audit.json").read_text())
        return document["attacks"][0]["overall"]["auc"]["interval"]

    assert interval() == interval("--seed", "5") != interval("--seed", "0")


def test_data_list_shows_every_data_set(command):
    code, out, _ = command("data list")
    assert code == 0
    lines = {line.split()[0]: line for line in out.splitlines() if line.strip()}
    for name, entry in DATASETS.items():
        assert f"{entry.records:,}" in lines[name]
        assert (" yes " in lines[name]) == (name == "digits")


def test_data_show_says_where_from_and_under_which_terms(command):
    code, out, _ = command("data show location30")
    assert code == 0
    assert "download https://github.com/privacytrustlab/datasets/raw/master/dataset_location.tgz" in out
    assert "git-blob-sha1 0cfc2caa0c8c8569cd68a5d4ab369a98c1f98447" in out
    assert "Shokri et al." in out
    assert "learning_rate = 0.001" in out


def test_data_check_counts(command, tmp_path):
    code, out, _ = command("data check digits")
    assert code == 0
    assert "1,797" in out
    assert "10, of 174 to 183 records" in out
    np.savez(tmp_path / "own.npz", x=np.zeros((6, 2)), y=np.arange(6) % 2)
    _, out, _ = command("data check own.npz")
    assert "2, of 3 to 3 records" in out
    assert words(out).count("exact duplicates: 5") == 1
    (tmp_path / "visits.csv").write_text("who,x,label\n" + "".join(f"p{i % 4 // 2},{i},{i % 2}\n" for i in range(7)))
    code, out, _ = command("data check visits.csv --not-feature who --unit who")
    assert (code, words(out).count("units: 2 by who, of up to 4 records")) == (0, 1)
    code, _, told = command("data check visits.csv --unit who")
    assert (code, "unit: 'who' is a feature of" in words(told)) == (2, True)


EVERY_KEY = """
dataset = "own.npz"
data_dir = "."
records = 60
validation = 20
reference = 10
population = 20
models = 4
seed = 7
workers = 1
executor = "inline"
stack = 1
device = "cpu"
store = "my-store"
out = "my-out"
attacks = ["rmia", "lira"]
replicates = 100
confidence = 0.9
control = "null"
format = "md"
records_format = "csv"
delta = 1e-3
promised_epsilon = 8.0
also_non_adaptive = true

[attack.lira]
variance = "pooled"

[attack.rmia]
population = "held-out"

[queries]
mirror = true
shifts = 1

[recipe]
epochs = 3
batch_size = 16
optimizer = "sgd"
learning_rate = 0.05
momentum = 0.5
nesterov = true
weight_decay = 1e-4
schedule = "multistep"
warmup_epochs = 0.5
milestones = [0.25]
decay = 0.5
augmentation = "flip-crop-cutout"
augmentation_strength = 0.25
padding = 1
clip_norm = 10.0
patience = 2
stop_after = 2.5
precision = "float32"
retrain = "again"
objective = "label-smoothing"
procedure = "plain"
sampler = "shuffle"
output = "none"

[defense]
name = "label-smoothing"
smoothing = 0.2

[recipe.architecture]
name = "mlp"
widths = [16]
"""


def test_a_file_with_every_key(command, tmp_path):
    import tomllib

    tree = tomllib.loads(EVERY_KEY)
    assert set(tree) == set(AuditConfig.model_fields) - {
        *DataOptions.model_fields,
        "group_by",
        "unit",
        "unit_score",
        "address",
    }  # these are for tables, and for a cluster
    assert set(tree["recipe"]) == set(Recipe.model_fields)
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "own.npz", x=rng.integers(0, 256, (130, 6, 6)).astype(np.uint8), y=np.arange(130) % 3)
    (tmp_path / "audit.toml").write_text(EVERY_KEY)
    code, _, err = command("audit --config audit.toml --seed 8 --set attack.lira.mode=offline")
    assert code == 0, err
    document = json.loads((tmp_path / "my-out" / "audit.json").read_text())
    recipe = document["recipe"]
    for key, value in tree["recipe"].items():
        if key not in {"architecture", "objective", "procedure", "sampler", "output"}:
            assert recipe[key] == value
    assert recipe["objective"] == {"method": "label-smoothing", "smoothing": 0.2}
    assert (recipe["procedure"]["method"], recipe["output"]["method"]) == ("plain", "none")
    assert {row["name"] for row in document["non_adaptive"]["attacks"]} == {"lira", "rmia"}
    assert (recipe["architecture"]["method"], recipe["architecture"]["widths"]) == ("mlp", [16])
    assert document["data"]["roles"] == {"audited": 60, "validation": 20, "reference": 10, "population": 20}
    assert document["population"]["seed"] == 8
    assert (document["population"]["queries"]["mirror"], document["population"]["queries"]["shifts"]) == (True, 1)
    rmia, lira = document["attacks"]
    assert (rmia["name"], rmia["spec"]["population"], rmia["confidence"]) == ("rmia", "held-out", 0.9)
    assert (lira["spec"]["variance"], lira["spec"]["mode"]) == ("pooled", "offline")
    assert lira["bootstrap"]["replicates"] == 100
    assert (tmp_path / "my-store" / "runs").is_dir()


def test_an_interruption_is_told_and_loses_nothing(command, monkeypatch, tmp_path):
    from reticent.population.worker import Maker

    whole, asked = Maker.make, []

    def make(self, model):
        asked.append(model)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return whole(self, model)

    monkeypatch.setattr(Maker, "make", make)
    code, _, err = command(f"audit {SMALL} --attack loss")
    assert code == 130
    assert err.endswith("reticent: interrupted; finished models are kept: run the same command again to go on")
    assert "Traceback" not in err
    assert not (tmp_path / "reticent-audit" / "audit.json").exists()
    code, _, err = command(f"audit {SMALL} --attack loss")
    assert code == 0
    assert "2 found" in err


def test_an_interruption_while_attacks_run_is_told(command, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("reticent.jobs.audit.measure", interrupted)
    code, _, err = command(f"audit {SMALL}")
    assert (code, "interrupted; finished models are kept" in err) == (130, True)


def test_exit_codes_of_an_end_by_code():
    for end, code in ((SystemExit(3), 3), (SystemExit(None), 0), (SystemExit("words"), 1)):

        def ended(*_, _end=end, **__):
            raise _end

        assert guarded(ended) == code
    assert guarded(app, ["--version"]) == 0


def test_harden_takes_the_flags_of_tables(command, tmp_path):
    for name in "mn":
        rows = "".join(f"{name}{i},{i % 5 or ''},{i % 2}\n" for i in range(40))
        (tmp_path / f"{name}.csv").write_text(f"id,w,out\n{rows}")
    line = "harden --model mlp --weights none.pt --members m.csv --non-members n.csv --label out"
    code, _, err = command(line)
    assert (code, "add --not-feature id --missing indicator" in err) == (2, True)
    code, _, err = command(f"{line} --not-feature id --missing indicator")
    assert code == 2
    assert "records stand among the members too" in err  # the columns are read


def test_attack_takes_the_flags_of_the_table_of_records(command, tmp_path):
    rng, members = np.random.default_rng(0), np.arange(120) % 2 == 0
    labels = rng.integers(0, 2, 120)
    np.savez(tmp_path / "o.npz", margins=rng.normal(size=(1, 120)), labels=labels, membership=members[None], classes=2)
    (tmp_path / "r.csv").write_text("id,w,out\n" + "".join(f"n{i},{i % 7},{one}\n" for i, one in enumerate(labels)))
    code, _, err = command("attack --signals o.npz --records r.csv")
    assert (code, "give --label COLUMN" in err) == (2, True)
    assert command("attack --signals o.npz --records r.csv --label out --not-feature id")[0] == 0
    code, _, err = command("attack --signals o.npz --label out --not-feature id")
    wanted = "--label, --not-feature: how a table is read; expected the table beside it: give --records FILE"
    assert (code, wanted in err) == (2, True)


def test_answers_that_are_labels_alone_have_a_way_forward(command, outputs):
    rng = np.random.default_rng(1)
    guesses = np.eye(3)[rng.integers(0, 3, (8, 60))]
    code, out, _ = command(f"attack --signals {outputs(logits=None, probabilities=guesses)} --attack loss")
    said = " ".join(out.split())
    assert (code, "Cannot tell" in said) == (0, True)
    assert "Bring probabilities or logits of the same models: these answers are labels alone" in said
    assert "reticent audit --dataset mine.csv --label outcome --attack label-only" in said
    code, out, _ = command(f"attack --signals {outputs()} --attack loss")
    assert "labels alone: bring" not in out
    assert "these answers are labels alone" not in out
