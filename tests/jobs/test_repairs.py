import pytest

from made_models import made
from reticent.findings.environment import Environment
from reticent.findings.population import Population
from reticent.jobs.repairs import repairs, stage_costs
from reticent.report.kinds import method

EVIDENCE = {"name": "early", "size": 1, "low": 0.0, "high": 1.0, "ks": 0.0, "runs": [0.5], "above": False}


def said(repair, models):
    return dict(method.repaired(Population(models=models, repair=repair)))


def pptp(stage, index, effect, share):
    onset = {
        "index": index,
        "name": None if index is None else "late",
        "stages": [EVIDENCE | {"effect": 0.5}, EVIDENCE | {"effect": effect}],
        "margin": 0.05,
        "confidence": 0.95,
        "sentence": "",
    }
    return {"pptp": {"chosen": "measured", "stage": stage, "onset": onset, "share_frozen": share}}


def test_pptp_says_where_it_cut_and_what_it_measured_there():
    population = made(pptp("late", 1, 0.7, 0.5), pptp("early", None, 0.52, 0.0), pptp("late", 1, 0.8, 0.4))
    told = repairs(population).pptp
    assert told.stages == {"late": 2, "early": 1}
    assert told.effect == (0.7, pytest.approx(0.75), 0.8)
    assert told.none_found == 1
    assert told.share_frozen == pytest.approx(0.3)
    assert dict(said(repairs(population), 3)["PPTP"]) == {
        "trained again from": "late in 2 of 3 models, early in 1 of 3 models",
        "how it was chosen": "measured in each model",
        "weights that stay": "30.0 %",
        "first risky stage": "late in 2 of 3 models",
        "effect there": "0.750 on average (0.700 to 0.800); no effect: 0.5",
        "no stage was risky": "in 1 of 3 models",
    }


def test_a_given_stage_has_no_evidence():
    one = {"pptp": {"chosen": "given", "stage": "late", "onset": None, "share_frozen": 0.5}}
    told = repairs(made(one, one))
    assert told.pptp.effect is None
    shown = dict(said(told, 2)["PPTP"])
    assert shown["how it was chosen"] == "given"
    assert "effect there" not in shown


COUNTS = {"weights": 1000, "rewound": 10, "rate": 0.01}


def test_cwrf_says_how_many_weights_it_rewound():
    one, two = ({"cwrf": COUNTS | {"kinds": {"linear": {"weights": 900, "rewound": n}}}} for n in (4, 8))
    told = repairs(made(one, two))
    assert told.to_json() == {"cwrf": {"weights": 1000, "rewound": 10.0, "kinds": {"linear": 6.0}}}
    shown = dict(said(told, 2)["CWRF"])
    assert shown == {"weights rewound": "10 of 1,000 (1.00 %)", "linear": "6 a model"}


def test_what_not_every_model_says_is_not_said_of_the_population():
    assert repairs(made(pptp("late", 1, 0.7, 0.5), {})) is None
    assert repairs([]) is None


def test_stages_cost_the_mean_over_the_models_that_had_them():
    named = [[{"name": "choice", "seconds": s}, {"name": "tuning", "seconds": 2 * s}] for s in (1.0, 2.0)]
    told = stage_costs(made({"stages": named[0]}, {"stages": named[1]}, {}))
    assert told == {"choice": 1.5, "tuning": 3.0}
    ((_, shown),) = method.about_run(Environment(stages=told))
    assert shown == (("time of one model's training", (("choice", "1.5 s"), ("tuning", "3.0 s"))),)
    assert stage_costs(made({})) == {}


SPARSE = {"rounds": 3, "weights": 100, "parameters": 120, "layers": {}}


def test_pruning_says_what_is_left_of_what():
    one, two = (
        {
            "sparsity": SPARSE
            | {"weights_left": n, "density": n / 100}
            | {"parameters_left": n + 20, "density_of_parameters": (n + 20) / 120}
        }
        for n in (50, 52)
    )
    told = repairs(made(one, two))
    left = {"rounds": 3, "weights": 100, "weights_left": 51.0, "parameters": 120, "parameters_left": 71.0}
    assert told.to_json() == {"sparsity": left}
    assert said(told, 2)["pruning"] == (
        ("rounds", "3"),
        ("weights left", "51 of 100 (51.0 %)"),
        ("of all parameters", "71 of 120 (59.2 %)"),
    )
