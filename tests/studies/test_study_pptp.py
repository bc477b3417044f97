"""The studies of PPTP: their rows can be trained, every claim with numbers for and against it, and one short run."""

from dataclasses import replace
from pathlib import Path

import pytest
from toy_study import bench_in

from reticent.errors import ModelError
from reticent.jobs.config import gather
from reticent.jobs.defenses import defended
from reticent.jobs.recipes import build_recipe
from reticent.procedures.recipe_checks import check
from reticent.store import Store
from reticent.studies import STUDIES
from reticent.studies.base import Found, Results, Setting
from reticent.studies.document import judge
from reticent.studies.excess import NONE
from reticent.studies.judging import finding
from reticent.studies.metrics import beside, even
from reticent.studies.numbers import Estimate
from reticent.studies.pptp import cost, rows, timing
from reticent.studies.pptp.cost import MEMORY, REPEATS, TIME, Taken
from reticent.studies.pptp.designs import half
from reticent.studies.pptp.premises import OURS, PAPERS, RISKY_STAGE, SAFE_STAGE, attacks, table
from reticent.studies.presets import digit_pictures

DESIGNS, DEFENSES, COST = (STUDIES[f"pptp-{name}"] for name in ("designs", "defenses", "cost"))
RECIPES = {"pptp-designs": rows.designs, "pptp-defenses": rows.defenses}
SETTINGS = {
    f"{study.name}-{scale}-{one.key}": (study.name, one)
    for study in (DESIGNS, DEFENSES)
    for scale, given in study.scales.items()
    for one in given.settings
}
PAPER = Path("/work/shared/papers/002_fb84a7c4cbf8ed8c.txt")
ONE = DESIGNS.scales["tiny"].settings[0]
AUCS = [f"auc_{attack}" for attack in (*PAPERS, *OURS)]
TITLES = ("RelaxLoss", "Adv-Reg")


@pytest.mark.parametrize("key", SETTINGS)
def test_every_row_can_be_trained_and_is_another(key):
    name, setting = SETTINGS[key]
    recipes = RECIPES[name](setting.options)
    given = gather(None, dict(setting.base)).recipe
    made = [build_recipe({}, defended(given, row.defense) if row.defense else given) for row in recipes.values()]
    for recipe in made:
        check(recipe, reference=10)
    assert len({repr(recipe) for recipe in made}) == len(made)
    assert ("SELENA" in recipes) == (name == "pptp-defenses" and "tinyimagenet" in key)


def test_the_papers_stages_are_those_of_its_table():
    paper = {one.key: one for one in DESIGNS.scales["paper"].settings}
    assert {key: one.options["stage"] for key, one in paper.items()} == {
        "cifar100": "stage 3",
        "tinyimagenet": "stage 4",
    }
    assert not any(one.unlike for one in paper.values())
    assert all(one.unlike for study in (DESIGNS, DEFENSES, COST) for one in study.scales["small"].settings)


def premises(titles=("RelaxLoss",)):
    """A network whose named stage is the first risky one, and defenses that act."""
    numbers = {(RISKY_STAGE, "effect"): 0.8, (SAFE_STAGE, "effect"): 0.5}
    return numbers | {(beside(title, NONE), auc): -0.2 for title in titles for auc in AUCS}


def designed():
    """Numbers with which every claim of `pptp-designs` holds."""
    numbers = premises((rows.SCRATCH,)) | {(rows.RISKY, "excess_accuracy"): 0.0}
    for auc in AUCS:
        numbers |= {(half(name), auc): 0.05 for name in (rows.LAST, rows.LAST_TUNED)} | {(half(rows.RISKY), auc): -0.05}
        numbers[rows.RISKY, f"excess_{auc}"] = -0.05
        numbers[beside(rows.RISKY, rows.SCRATCH), auc] = 0.005
        numbers[beside(rows.RISKY, rows.SCRATCH), "accuracy"] = -0.01
        for other in (rows.SCRATCH, rows.RISKY_TUNED, rows.ALL):
            numbers[even(rows.RISKY, other), auc] = -0.05
            numbers[even(rows.RISKY, other), "excess_accuracy"] = 0.0
    return numbers


def traded():
    """Numbers with which every claim of `pptp-defenses` holds, but for SELENA, which the setting lacks."""
    numbers = premises(TITLES)
    for name, title in [*((rows.with_pptp(title), title) for title in TITLES), (rows.CS_KD, "RelaxLoss")]:
        numbers[beside(name, title), "accuracy"] = 0.05
        numbers[beside(name, title), "auc_correctness"] = 0.0
        numbers[name, "excess_accuracy"] = 0.0
        for auc in AUCS:
            numbers[beside(name, title), auc] = 0.0
            numbers[name, f"excess_{auc}"] = -0.05
            for other in (title, rows.shorter(title)):
                numbers[even(name, other), auc] = -0.05
                numbers[even(name, other), "excess_accuracy"] = 0.0
    return numbers


def costly():
    """Numbers with which every claim of `pptp-cost` holds."""
    numbers = {}
    for title in TITLES:
        name = rows.with_pptp(title)
        numbers |= {(beside(name, other), metric): -0.5 for other in (title, rows.shorter(title))
                    for metric in (TIME, MEMORY)}  # fmt: skip
        numbers[beside(cost.whole(title), title), TIME] = 0.0
    return numbers


WORLDS = {"pptp-designs": designed, "pptp-defenses": traded, "pptp-cost": costly}


def answers(study, numbers, error=0.001, setting=ONE):
    """Say what one setting's numbers say of each claim: yes, no, or why it is open."""
    found = Found(numbers={key: Estimate(value, error) for key, value in numbers.items()})
    results = Results((setting,), {setting.key: [found]})
    told = {claim.key: finding(claim.parts(results)) for claim in STUDIES[study].claims}
    return {key: reason or answer for key, (answer, reason) in told.items()}


@pytest.mark.parametrize("study", WORLDS)
def test_with_numbers_for_them_all_claims_hold_and_with_wide_intervals_none_can_be_told(study):
    numbers = WORLDS[study]()
    told = answers(study, numbers)
    selena = {key for key in told if key.startswith("selena")}
    assert {key: one for key, one in told.items() if key not in selena} == dict.fromkeys(told.keys() - selena, "yes")
    assert all(told[key] == "unmeasured" for key in selena)
    assert "yes" not in answers(study, numbers, error=1.0).values()
    assert set(answers(study, {}).values()) == {"unmeasured"}


RELAXED, ADVERSARIAL = (rows.with_pptp(title) for title in TITLES)
AGAINST = [
    *(
        ("pptp-designs", {(half(name), auc): -0.02}, {f"last-layer{'-stronger' * (auc in AUCS[2:])}"})
        for name in (rows.LAST, rows.LAST_TUNED)
        for auc in AUCS
    ),
    *(
        ("pptp-designs", {(half(rows.RISKY), auc): 0.02}, {f"risky-stages{'-stronger' * (auc in AUCS[2:])}"})
        for auc in AUCS
    ),
    *(("pptp-designs", {(even(rows.RISKY, rows.SCRATCH), auc): 0.0}, {"from-scratch-stronger"}) for auc in AUCS[2:]),
    *(("pptp-designs", {(beside(rows.RISKY, rows.SCRATCH), auc): 0.03}, {"from-scratch"}) for auc in AUCS[:2]),
    ("pptp-designs", {(beside(rows.RISKY, rows.SCRATCH), "accuracy"): -0.04}, {"from-scratch"}),
    ("pptp-designs", {(even(rows.RISKY, rows.RISKY_TUNED), AUCS[0]): -0.005}, {"rewinding"}),
    ("pptp-designs", {(even(rows.RISKY, rows.ALL), "auc_rmia"): 0.05}, {"half-as-long"}),
    ("pptp-designs", {(rows.RISKY, "excess_auc_lira"): 0.05}, {"control"}),
    (
        "pptp-defenses",
        {(beside(RELAXED, "RelaxLoss"), "accuracy"): 0.0},
        {"relaxloss-trade", "relaxloss-trade-stronger"},
    ),
    ("pptp-defenses", {(beside(RELAXED, "RelaxLoss"), AUCS[1]): 0.03}, {"relaxloss-trade"}),
    ("pptp-defenses", {(beside(ADVERSARIAL, "Adv-Reg"), "auc_lira"): 0.03}, {"advreg-trade-stronger"}),
    ("pptp-defenses", {(even(RELAXED, "RelaxLoss"), "auc_lira"): 0.0}, {"relaxloss-matched"}),
    (
        "pptp-defenses",
        {(even(ADVERSARIAL, rows.shorter("Adv-Reg")), "auc_rmia"): 0.02},
        {"advreg-half-as-long"},
    ),
    ("pptp-defenses", {(ADVERSARIAL, "excess_auc_lira"): 0.0}, {"advreg-control"}),
    ("pptp-defenses", {(beside(ADVERSARIAL, "Adv-Reg"), "auc_correctness"): -0.04}, {"correctness"}),
    ("pptp-defenses", {(beside(rows.CS_KD, "RelaxLoss"), "accuracy"): -0.04}, {"cs-kd"}),
    ("pptp-defenses", {(beside(rows.CS_KD, "RelaxLoss"), "auc_confidence"): 0.04}, {"cs-kd"}),
    ("pptp-cost", {(beside(RELAXED, "RelaxLoss"), TIME): -0.05}, {"time"}),
    ("pptp-cost", {(beside(ADVERSARIAL, "Adv-Reg"), MEMORY): 0.5}, {"memory"}),
    ("pptp-cost", {(beside(ADVERSARIAL, "Adv-Reg"), MEMORY): 1.2}, {"memory", "twice"}),
    ("pptp-cost", {(beside(RELAXED, rows.shorter("RelaxLoss")), TIME): 0.0}, {"time-half-as-long"}),
    ("pptp-cost", {(beside(cost.whole("RelaxLoss"), "RelaxLoss"), TIME): 0.5}, {"time-both"}),
]


@pytest.mark.parametrize(("study", "changed", "refuted"), AGAINST)
def test_a_number_against_a_claim_refutes_it_and_no_other(study, changed, refuted):
    told = answers(study, WORLDS[study]() | changed)
    assert {key for key, one in told.items() if one == "no"} == refuted


@pytest.mark.parametrize("more", [0.04, -0.015])
def test_correctness_may_find_more_with_pptp_or_as_much_less_as_better_accuracy_takes_off(more):
    told = answers("pptp-defenses", traded() | {(beside(RELAXED, "RelaxLoss"), "auc_correctness"): more})
    assert told["correctness"] == "yes"


PAPERS_OWN = {one.key: one for one in DEFENSES.scales["paper"].settings}


def keys_asked(study, setting):
    results = Results((setting,), {setting.key: [Found()]})
    return {claim.key for claim in study.claims if claim.origin == "paper" and claim.parts(results)}


def test_each_claim_of_the_papers_is_asked_of_the_data_that_it_is_said_of():
    both = {"relaxloss-trade", "advreg-trade"}
    assert keys_asked(DEFENSES, PAPERS_OWN["cifar100"]) == both | {"correctness"}
    assert keys_asked(DEFENSES, PAPERS_OWN["tinyimagenet"]) == both | {"selena-trade", "cs-kd"}
    assert keys_asked(DESIGNS, PAPERS_OWN["cifar100"]) == set()
    assert keys_asked(DESIGNS, PAPERS_OWN["tinyimagenet"]) == {"last-layer", "risky-stages", "from-scratch"}


def test_selena_need_not_gain():
    """The paper calls its improvement very slight."""
    numbers = premises(("SELENA",)) | {(beside("SELENA, PPTP", "SELENA"), auc): 0.0 for auc in [*AUCS, "auc_nasr"]}
    numbers[beside("SELENA", NONE), "auc_nasr"] = -0.2
    for gain, wanted in ((0.0, "yes"), (-0.01, "yes"), (-0.04, "no")):
        numbers[beside("SELENA, PPTP", "SELENA"), "accuracy"] = gain
        assert answers("pptp-defenses", numbers, setting=PAPERS_OWN["tinyimagenet"])["selena-trade"] == wanted


@pytest.mark.parametrize("row", [(NONE, "accuracy", 0.4407), ("RelaxLoss", "accuracy_members", 0.7968)])
def test_tinyimagenet_is_the_papers_setting_only_where_accuracies_are_as_printed(row):
    name, metric, printed = row
    pair = beside(RELAXED, "RelaxLoss")
    numbers = premises() | {(pair, auc): 0.0 for auc in [*AUCS, "auc_nasr"]} | {(pair, "accuracy"): 0.05}
    numbers[beside("RelaxLoss", NONE), "auc_nasr"] = -0.2
    for off, wanted in ((0.04, "yes"), (-0.04, "yes"), (0.06, "setting"), (-0.06, "setting")):
        near = numbers | {(name, metric): printed + off}
        assert answers("pptp-defenses", near, setting=PAPERS_OWN["tinyimagenet"])["relaxloss-trade"] == wanted
        elsewhere = answers("pptp-defenses", near, setting=PAPERS_OWN["cifar100"])
        assert elsewhere["relaxloss-trade"] == "yes"


@pytest.mark.skipif(not PAPER.is_file(), reason="the paper's text is not at hand")
def test_table_7_is_as_the_paper_has_it():
    known = table("RelaxLoss").rows
    printed = {line.split("\t")[0]: line.split("\t")[1:] for line in PAPER.read_text().splitlines() if "\t" in line}
    for metric, line in (("accuracy", printed["Test"]), ("accuracy_members", printed["Train"])):
        assert [f"{100 * known[name][metric][0]:.2f}" for name in (NONE, "RelaxLoss")] == line[1:]
    assert f"{printed['Test'][0]} %" in table("RelaxLoss").note


def test_the_papers_network_judges_where_it_is_run():
    assert attacks(ONE, stronger=False) == PAPERS
    assert attacks(PAPERS_OWN["cifar100"], stronger=False) == (*PAPERS, "nasr")
    assert attacks(PAPERS_OWN["cifar100"], stronger=True) == OURS


@pytest.mark.parametrize("changed", [{(RISKY_STAGE, "effect"): 0.54}, {(SAFE_STAGE, "effect"): 0.56}])
def test_without_a_risky_stage_where_it_is_named_nothing_on_leaks_can_be_told(changed):
    assert set(answers("pptp-designs", designed() | changed).values()) == {"condition"}
    told = answers("pptp-defenses", traded() | changed)
    assert {key for key, one in told.items() if one == "yes"} == {"correctness"}


def test_a_defense_that_does_not_act_tells_nothing_under_that_attack():
    numbers = designed() | {(beside(rows.SCRATCH, NONE), "auc_lira"): -0.005}
    told = answers("pptp-designs", numbers)
    stronger = {"last-layer-stronger", "risky-stages-stronger", "from-scratch-stronger", "half-as-long", "control"}
    assert {key for key, one in told.items() if one == "condition"} == stronger


def test_another_accuracy_than_the_controls_tells_nothing():
    changed = {(even(rows.RISKY, rows.ALL), "excess_accuracy"): 0.04}
    told = answers("pptp-designs", designed() | changed)
    assert {key for key, one in told.items() if one == "unmatched"} == {"half-as-long"}


def test_narrow_networks_are_no_stand_in_for_the_papers():
    found = Found(numbers={key: Estimate(value, 0.001) for key, value in designed().items()})
    results = Results((ONE,), {ONE.key: [found]})
    told = {claim.key: judge(claim, results) for claim in DESIGNS.claims}
    assert {one.reason for one in told.values() if one.origin == "paper"} == {"setting"}
    assert {one.verdict for one in told.values() if one.origin == "ours"} == {"holds"}


def test_ratios_are_taken_repetition_by_repetition():
    base = [Taken(10.0, 100, 10.0), Taken(40.0, 100, 40.0)]
    own = [Taken(5.0, 150, 5.0), Taken(20.0, 150, 20.0)]
    for fact, value in (("seconds", -0.5), ("bytes", 0.5)):
        found = cost._ratio(own, base, fact)
        assert found.value == pytest.approx(value)
        assert found.error == cost.EXACT
    assert cost._ratio([Taken(1.0, None, 1.0)] * 2, base, "bytes") is None
    assert cost._ratio(own[:1], base[:1], "bytes").error == 0.0


@pytest.mark.slow
def test_a_process_that_fails_says_why(tmp_path):
    with pytest.raises(ModelError, match="ended without an answer: AttributeError"):
        timing.alone(None, Store(tmp_path), "cpu", None)


SHORT = {
    "dataset": "digit pictures",
    "architecture": {"name": "resnet20", "width": 2},
    "models": 4,
    "records": 80,
    "reference": 40,
    "epochs": 2,
    "batch_size": 16,
    "attacks": ONE.base["attacks"],
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    options = ONE.options | {REPEATS: 1}
    setting = Setting("digits", "ResNet20 on digits", SHORT, options, network="ResNet", unlike="digits")
    return bench_in(tmp_path_factory.mktemp("pptp"), setting, digit_pictures())


@pytest.mark.slow
def test_short_runs_measure_what_claims_and_figures_ask_for(bench, monkeypatch):
    # In a process that held more before, the growth may be none.
    monkeypatch.setattr(cost, "alone", lambda *given: replace(timing.timed(*given), bytes=2**20))
    for study in (DESIGNS, DEFENSES, COST):
        found = study.measure(bench)
        assert Found.from_json(found.to_json()) == found
        results = Results((bench.setting,), {bench.setting.key: [found]})
        for claim in study.claims:
            parts = claim.parts(results)
            if not claim.key.startswith("selena"):
                assert parts
                assert all(part.number is not None for part in parts), claim.key
        (figure,) = study.draw(results, bench.setting)
        assert all(panel.series for panel in figure.panels)
    taken = found.numbers[rows.with_pptp("RelaxLoss"), "training"].value
    assert 0 < taken <= found.numbers[rows.with_pptp("RelaxLoss"), "seconds"].value


@pytest.mark.slow
def test_a_training_is_timed_in_a_process_of_its_own(bench):
    job = bench.job(**cost.ONE)
    with bench.made(job) as (store, made):
        asked = bench.job(rows.joined("stage 3", "relaxloss"), **cost.ONE)
        whole = timing.alone(job.population, store, "cpu", None)
        again = timing.alone(asked.population, store, "cpu", made[0].training)
    assert whole.training == whole.seconds > 0
    assert 0 < again.training < again.seconds
    assert min(whole.bytes, again.bytes) > 0
