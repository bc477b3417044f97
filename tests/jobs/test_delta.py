"""One delta for the bounds and for DP-SGD, and what is said where there are two, or where no epsilon is proved."""

import numpy as np
import pytest

from reticent.errors import SpecError
from reticent.findings.epsilon import EpsilonAudit
from reticent.jobs.config import called
from reticent.jobs.defenses import catalogue
from reticent.jobs.recipes import at_delta
from reticent.options import AttackConfig
from reticent.procedures import PROCEDURES
from reticent.procedures.cwrf import CWRF
from reticent.procedures.dpsgd import DPSGD
from reticent.report.blocks import Bars
from reticent.report.kinds.epsilon import blocks, card
from reticent.training.recipe import Recipe

MEMBERS = np.array([60, 62])
FOUND = {"lower": 0.5, "delta": 1e-3, "confidence": 0.95, "sentence": "Found."}
PROVED = {"epsilon": 7.9, "delta": 1e-5, "source": "prv"}


def job(defense, **values):
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    x = rng.normal(size=(120, 6)).astype(np.float32)
    return called(None, {"dataset": (x, y), "models": 4, "epochs": 4, "defense": defense, "attacks": "loss", **values})


@pytest.mark.parametrize("defense", ["dpsgd", "dpsgd:noise=1"])
def test_a_given_delta_reaches_the_procedure_that_proves(defense):
    pytest.importorskip("opacus")
    procedure = job(defense, delta=1e-3).population.recipe.procedure
    assert procedure.delta == 1e-3
    assert job(defense).population.recipe.procedure != procedure
    for delta in (0.5, 0.0):
        with pytest.raises(SpecError, match=rf"less than .* = 1 / members.*\(dpsgd:delta=1e-5\), got {delta:g}$"):
            job(defense, delta=delta)


def test_a_given_delta_does_not_reach_what_proves_nothing():
    pytest.importorskip("opacus")
    assert job("cwrf+dpsgd", delta=0.0).population.recipe == job("cwrf+dpsgd").population.recipe


@pytest.mark.parametrize("procedure", [DPSGD(delta=1e-4), DPSGD(noise=0.0), CWRF(), Recipe().procedure])
def test_a_delta_of_its_own_stays_and_so_does_what_has_none(procedure):
    recipe = Recipe(procedure=procedure)
    assert at_delta(recipe, AttackConfig(delta=1e-3), MEMBERS) is recipe


def test_recipes_that_would_choose_that_delta_by_themselves_keep_their_identity():
    recipe = Recipe(procedure=DPSGD())
    assert at_delta(recipe, AttackConfig(delta=1e-5), MEMBERS) is recipe
    assert at_delta(recipe, AttackConfig(), [10**6]) is recipe
    with pytest.raises(SpecError, match="less than 1e-06 = 1 / members"):  # 1e-5 is usual, but not for so many.
        at_delta(recipe, AttackConfig(delta=1e-5), [10**6])
    assert at_delta(recipe, AttackConfig().replace(seed=1), [10**6]) is recipe


def _found(**more):
    return EpsilonAudit.model_validate(FOUND | more)


def test_bounds_at_two_deltas_share_no_picture_and_the_card_tells_both():
    apart, same = _found(accountant=PROVED), _found(accountant=PROVED | {"delta": 1e-3})
    assert [any(isinstance(block, Bars) for block in blocks(one, [], None)) for one in (apart, same)] == [False, True]
    note = card(apart).note
    assert "delta 0.001, " in note
    assert note.endswith("the accountant proves at most 7.90 at delta 0.00001")
    assert card(same).note.endswith("proves at most 7.90")


def test_where_nothing_is_proved_it_is_said_where_epsilon_is_read():
    why = PROCEDURES["cwrf"].unproved(Recipe(procedure=CWRF(inner=DPSGD())))
    assert card(_found(unproved=why)).note.endswith("training proves no upper bound")


def test_the_cards_of_both_stages_say_that_together_they_prove_nothing():
    told = {one.name: one.guarantee for one in catalogue()}
    assert "cwrf+dpsgd" in told["cwrf"]
    assert "cwrf+dpsgd, pptp+dpsgd and prune+dpsgd" in told["dpsgd"]
    assert (told["mist"], told["relaxloss"]) == ("", "")
