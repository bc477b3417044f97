"""What every study of the table must be, and the papers' numbers against the papers."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from toy_study import STUDY as TOY

from reticent.findings.study import OPEN
from reticent.jobs.config import gather
from reticent.jobs.recipes import build_recipe
from reticent.studies import STUDIES
from reticent.studies.base import Found, Results, Scale, Setting
from reticent.studies.cwrf_ablation import _pairs
from reticent.studies.cwrf_ablation.rows import SCRATCH, named
from reticent.studies.cwrf_defenses.printed import METRICS, TITLES, WITH
from reticent.studies.cwrf_shared import acts
from reticent.studies.document import assemble, judge
from reticent.studies.excess import NONE
from reticent.studies.judging import better, finding
from reticent.studies.numbers import Estimate, Pooled

PAPER = Path("/work/shared/papers/001_2a30e3021cb883aa.txt")
RECORDS = type("Records", (), {"name": "x", "digest": "d", "classes": 2, "__len__": lambda _: 3})()
FAIR = {("wemem", "small", "location30")}
"""Settings below scale paper with the paper's own data, network, sizes and training."""
CASES = [(name, scale) for name, study in STUDIES.items() for scale in study.scales]


def empty(study, scale):
    settings = study.scales[scale].settings
    return Results(settings, {one.key: [Found(), Found()] for one in settings})


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_has_the_name_that_the_table_gives_it(name):
    assert STUDIES[name].name == name, "give the study in its `STUDY` the name that it has in studies/__init__.py"


@pytest.mark.parametrize("study", [*STUDIES.values(), TOY], ids=lambda study: study.name)
def test_a_study_says_all_of_itself(study):
    assert study.title.endswith("?"), "write the title as a question"
    assert "tiny" in study.scales, "give it a scale tiny, of minutes: it is what `reticent study NAME` runs"
    keys = [claim.key for claim in study.claims]
    assert len(set(keys)) == len(keys) > 0, "give it claims, each with a key of its own"
    for claim in study.claims:
        assert claim.text.endswith("."), f"{claim.key}: write the claim as a sentence"
        assert claim.rule.startswith("In each setting"), f"{claim.key}: say of which settings it is: In each setting"
        assert claim.source, f"{claim.key}: say where the paper has it"
        assert bool(claim.networks) == (claim.origin == "paper"), (
            f"{claim.key}: name the kinds of network that a claim of the paper's is about; one of ours is about any"
        )
    metrics = [column.key for column in study.columns]
    assert len(set(metrics)) == len(metrics), "give each column a key of its own"
    for table in study.published:
        printed = {metric for row in table.rows.values() for metric in row}
        assert printed <= set(metrics), f"add a column for each metric that {table.reference} has"
        assert all(row in table.rows and metric in table.rows[row] for row, metric in table.remarks)


@pytest.mark.parametrize(("name", "scale"), CASES)
def test_a_scale_has_settings_that_can_be_trained(name, scale):
    study = STUDIES[name]
    given = study.scales[scale]
    keys = [one.key for one in given.settings]
    assert len(set(keys)) == len(keys) > 0
    assert given.seeds >= (1 if scale in {"tiny", "gpu"} else 3), f"run scale {scale} with 3 seeds at least"
    groups = {table.group for table in study.published}
    for one in given.settings:
        assert re.fullmatch(r"[a-z0-9-]+", one.key), "a setting's key names files: small letters, digits and hyphens"
        assert one.published is None or one.published in groups
        assert one.network, f"{one.key}: say which kind of network it is, such as ResNet"
        assert one.unlike or scale == "paper" or (name, scale, one.key) in FAIR, (
            f"{one.key}: say what makes it no fair stand-in for the paper's (unlike)"
        )
        build_recipe({"architecture": "mlp"}, gather(None, dict(one.base)).recipe)


@pytest.mark.parametrize(("name", "scale"), CASES)
def test_with_nothing_measured_every_claim_is_open(name, scale):
    study, results = STUDIES[name], empty(STUDIES[name], scale)
    for claim in study.claims:
        parts = claim.parts(results)
        assert finding(parts) == ("open", "unmeasured")
        assert len({(part.label, part.setting) for part in parts}) == len(parts)
    assert all(figure.name for setting in results.settings for figure in study.draw(results, setting))


def test_claims_of_a_study_with_numbers_that_favour_them_are_reproduced():
    """What the paper says of A1, A2 and A3, with numbers that agree by a wide margin, and that contradict it."""
    study = STUDIES["cwrf-ablation"]
    setting = study.scales["tiny"].settings[0]
    plain, _ = _pairs(type("Bench", (), {"options": setting.options}))
    good = {"loss": -0.5, "accuracy": 0.1, "gap": -0.5}
    keys = ("a3-a2", "a1-crash", "a2-a1", "gap", "gap-scratch", "a3-scratch")
    for sign, acting, wanted in ((1, -0.1, "yes"), (-1, -0.1, "no"), (1, 0.0, "open")):
        found = Found(numbers={(acts(SCRATCH), "auc_lira"): Estimate(acting, 0.001)})
        for name in plain:
            if name != acts(SCRATCH):
                found.numbers |= {(name, metric): Estimate(value * sign, 0.001) for metric, value in good.items()}
        results = Results((setting,), {setting.key: [found]})
        answers = {claim.key: finding(claim.parts(results))[0] for claim in study.claims}
        assert {key: answers[key] for key in keys} == dict.fromkeys(keys, wanted)


def test_what_the_ablation_asks_is_what_the_paper_says_of_each_rate():
    """A3 need be more accurate than scratch at the smallest rate alone."""
    study = STUDIES["cwrf-ablation"]
    setting = study.scales["small"].settings[0]
    small, large = min(setting.options["rates"]), max(setting.options["rates"])
    numbers = {(acts(SCRATCH), "auc_lira"): -0.1, (named("A3 - scratch", small), "accuracy"): 0.005}
    numbers |= {(named("A3 - scratch", large), metric): 0.5 for metric in ("accuracy", "loss")}
    for at, wanted in ((0.005, "yes"), (-0.005, "no")):
        numbers[named("A3 - scratch", small), "accuracy"] = at
        found = Found(numbers={key: Estimate(value, 0.001) for key, value in numbers.items()})
        results = Results((setting,), {setting.key: [found]})
        claim = next(one for one in study.claims if one.key == "a3-scratch")
        assert finding(claim.parts(results))[0] == wanted


def test_a_document_can_be_made_of_nothing():
    study = STUDIES["cwrf-entanglement"]
    given = replace(study.scales["tiny"], seeds=2)
    document = assemble(study, "tiny", given, empty(study, "tiny"), {"cnn": RECORDS, "vit": RECORDS})
    assert {claim.verdict for claim in document.claims} == {OPEN}


needs_paper = pytest.mark.skipif(not PAPER.is_file(), reason="the paper's text is not at hand")


def printed_rows():
    """Read Table 3 out of the paper's text: (model, row) to seven pairs."""
    rows, model, before = {}, "", ""
    for line in PAPER.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        pairs = [re.fullmatch(r"([\d.]+)\(([\d.]+)\)", cell) for cell in cells]
        numbers = [(float(found[1]), float(found[2])) for found in pairs if found]
        if len(numbers) != len(METRICS):
            continue
        words = [cell for cell, found in zip(cells, pairs, strict=True) if cell and not found]
        model = words[0] if len(words) > 1 else model
        name = words[-1].replace("No Defense", NONE)
        name = before + WITH if name.startswith("+ CWRF") else name
        before = name if WITH not in name else before
        rows[model, name] = numbers
    return rows


@needs_paper
def test_table_3_is_as_the_paper_has_it():
    ours = {
        (table.group, name): [row[metric] for metric in METRICS]
        for table in STUDIES["cwrf-defenses"].published
        for name, row in table.rows.items()
    }
    theirs = printed_rows()
    assert set(ours) == set(theirs)
    for key, pairs in theirs.items():
        assert ours[key] == [pytest.approx((mean / 100, std / 100)) for mean, std in pairs], key


@needs_paper
def test_table_1_and_table_2_are_as_the_paper_has_them():
    text = PAPER.read_text()
    for table in STUDIES["cwrf-entanglement"].published:
        for row, values in table.rows.items():
            value, share = values["pearson"][0], values["proportion"][0]
            assert re.search(rf"\| {re.escape(row)} \| {value:.4f} \| {100 * share:.2f}%", text), row
    (table,) = STUDIES["cwrf-ablation"].published
    for variant in ("A2", "A3"):
        for which, metric in (("train", "loss_members"), ("test", "loss")):
            numbers = [f"{table.rows[named(variant, rate)][metric][0]:.4f}" for rate in (0.001, 0.01, 0.03, 0.05)]
            assert f"| {variant} - {which} | {' | '.join(numbers)} |" in text
    assert f"| From scratch - test | {table.rows[SCRATCH]['loss'][0]} |" in text


def test_the_entries_with_a_remark_are_those_that_arithmetic_forbids():
    """A TPR that grows as the FPR shrinks; a deviation that three non-negative runs of that mean can't have."""
    for table in STUDIES["cwrf-defenses"].published:
        odd = set()
        for name, row in table.rows.items():
            for attack in ("lira", "rmia"):
                if row[f"zero_{attack}"][0] > row[f"tpr_{attack}_0.001"][0]:
                    odd.add((name, f"zero_{attack}"))
            for metric, (mean, std) in row.items():
                # All in one run: mean m, the others 0; sample deviation m times the root of 3. Half a unit of rounding.
                if std - 5e-5 > 3**0.5 * (mean + 5e-5):
                    odd.add((name, metric))
        assert odd == set(table.remarks)


def test_defenses_of_the_published_table_have_names_here():
    names = {name.removesuffix(WITH) for table in STUDIES["cwrf-defenses"].published for name in table.rows}
    assert names == set(TITLES.values())


def test_the_note_on_table_2_says_at_which_rates_the_gap_of_a3_is_larger():
    (table,) = STUDIES["cwrf-ablation"].published
    rates = (0.001, 0.01, 0.03, 0.05)
    gaps = {v: [table.rows[named(v, rate)]["gap"][0] for rate in rates] for v in ("A2", "A3")}
    larger = [f"{100 * rate:g}" for rate, one, other in zip(rates, gaps["A3"], gaps["A2"], strict=True) if one > other]
    *most, last = [f"{100 * rate:g}" for rate in rates if f"{100 * rate:g}" not in larger]
    assert f"At r = {' and '.join(larger)} % the table's gap of A3 is larger than that of A2" in table.note
    assert f"at {', '.join(most)} and {last} % it is smaller" in table.note
    for variant in ("loss_members", "loss"):
        assert table.rows[named("A3", 0.001)][variant] < table.rows[named("A2", 0.001)][variant]
    card = (Path(__file__).parents[2] / "docs" / "methods" / "cwrf.md").read_text(encoding="utf-8")
    assert f"at r = {' and '.join(larger)} %, and a smaller one from {most[0]} % on (Table 2)" in card


def test_the_notes_on_table_3_name_each_auc_that_is_larger_with_cwrf():
    card = (Path(__file__).parents[2] / "docs" / "methods" / "cwrf.md").read_text(encoding="utf-8")
    named_there = 0
    for table in STUDIES["cwrf-defenses"].published:
        for name, row in table.rows.items():
            for metric in ("auc_lira", "auc_rmia"):
                joined = table.rows.get(name + WITH, {}).get(metric)
                pair = f"{100 * row[metric][0]:.2f} to {100 * joined[0]:.2f} %" if joined else ""
                if joined and joined[0] > row[metric][0]:
                    named_there += 1
                    assert f"with {name}, from {pair}" in table.note
                    assert pair in card
                else:
                    assert not pair or pair not in table.note
    assert named_there == 3


@pytest.mark.parametrize(
    ("name", "over"),
    [
        ("cwrf-ablation", "models and records"),
        ("cwrf-entanglement", "networks alone, with the records as they are"),
        ("pptp-disparity", "records alone, with the networks as they are"),
    ],
)
def test_the_page_says_what_its_intervals_are_over(name, over):
    study = STUDIES[name]
    given = replace(study.scales["tiny"], seeds=2)
    data = {one.key: RECORDS for one in given.settings}
    partial = Estimate(0.5, 0.1, partial=name != "cwrf-ablation")
    found = {one.key: [Found(numbers={("row", "metric"): partial})] * 2 for one in given.settings}
    document = assemble(study, "tiny", given, Results(given.settings, found), data)
    assert document.over == over
    assert any(f"over {over}" in line for line in document.cannot_say)


def test_where_one_seed_gives_no_interval_the_page_says_so():
    study = STUDIES["pptp-disparity"]
    setting = study.scales["tiny"].settings[0]
    found = Found({"block 1": ""}, {("block 1", "effect"): Estimate.between(0.6, 0.59, 0.61, partial=True)})
    given, results = replace(study.scales["tiny"], seeds=1), Results((setting,), {setting.key: [found]})
    document = assemble(study, "tiny", replace(given, settings=(setting,)), results, {setting.key: RECORDS})
    assert document.tables[0].rows[0].values["effect"].interval is None
    assert (
        "1 seed: the error of one seed is over records alone, with the networks as they are, so these numbers have no "
        "interval, and no claim on them is judged. From 3 seeds on they have one."
    ) in document.cannot_say
    found.numbers["block 1", "accuracy"] = Estimate(0.6, 0.01)  # one number more, whose error leaves nothing out
    document = assemble(study, "tiny", replace(given, settings=(setting,)), results, {setting.key: RECORDS})
    assert any("leave out what another seed would change" in line for line in document.cannot_say)


def test_a_row_of_one_seed_alone_has_no_line_in_the_table():
    """As the early-stopped networks of controls, of which each seed has its own: their numbers stand in the notes."""
    setting = Setting("one", "one", {}, {"defenses": ("none",), "controls": False})
    found = []
    for seed, epochs in enumerate((3, 4)):
        stopped = f"{NONE}, {epochs} of 40 epochs"
        numbers = {(NONE, "accuracy"): Estimate(0.8, 0.01), (stopped, "accuracy"): Estimate(0.7, 0.01)}
        found.append(Found({NONE: "", stopped: ""}, numbers, notes=[f"seed {seed}: stopped after {epochs}"]))
    results = Results((setting,), {"one": found})
    document = assemble(STUDIES["cwrf-defenses"], "small", Scale((setting,), 2, ""), results, {"one": RECORDS})
    assert [row.name for row in document.tables[0].rows] == [NONE]
    assert document.settings[0].notes == ("seed 0: stopped after 3", "seed 1: stopped after 4")


@pytest.mark.parametrize(
    ("name", "scale", "reasons"),
    [
        ("cwrf-ablation", "small", {"network"}),
        ("cwrf-ablation", "paper", set()),
        ("cwrf-defenses", "small", {"network"}),
        ("cwrf-defenses", "paper", set()),
        ("cwrf-removal", "small", {"network"}),
        ("cwrf-location", "small", {"network"}),
        ("cwrf-entanglement", "small", {"setting"}),
        ("cwrf-entanglement", "paper", set()),
        ("pptp-disparity", "tiny", {"network"}),
        ("pptp-disparity", "paper", set()),
    ],
)
def test_what_no_fair_stand_in_was_run_for_is_never_settled(name, scale, reasons):
    """Whatever is found: a claim of the paper's has a verdict only where its setting, or a fair stand-in, was run."""
    study = STUDIES[name]
    settings = study.scales[scale].settings
    results = Results(settings, {one.key: [Found()] for one in settings})
    for claim in (one for one in study.claims if one.origin == "paper"):
        for effect in (0.5, -0.5):
            planted = replace(claim, parts=lambda _, at=effect: [better("x", Pooled((Estimate(at, 0.01),)), 0.01)])
            judged = judge(planted, results)
            wanted = "reproduced" if effect > 0 else "not reproduced"
            assert judged.reason in reasons if reasons else judged.verdict == wanted
