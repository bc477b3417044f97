"""The accountant's epsilon and the notices of training, on their way into the audit and its report."""

import json
import sys

import numpy as np
import pytest

import reticent
from made_models import made
from reticent.errors import EXTRAS, MissingExtraError
from reticent.findings.clash import Clash
from reticent.findings.epsilon import Accountant, EpsilonAudit
from reticent.jobs import document
from reticent.jobs.defenses import catalogue
from reticent.jobs.scoring import Settings
from reticent.options import AttackConfig
from reticent.procedures.dpsgd import WITHOUT_NOISE
from reticent.procedures.dpsgd.opacus_import import OLDEST, needed
from reticent.rounding import significant_up as rounded_up
from reticent.say.epsilon import spoken

PRV = {"epsilon": 2.5, "delta": 1e-5, "source": "prv"}
STEPS = {"noise": 1.0, "max_norm": 1.0, "sample_rate": 0.1, "steps": 10, "neighbours": "add or remove one record"}


def test_the_largest_epsilon_at_the_largest_delta_stands_for_all_models():
    other = {"epsilon": 2.0, "delta": 1e-4, "source": "rdp", "noise": 1.0}
    one, two = ({"accountant": STEPS | proved} for proved in (PRV, other))
    both = document.accountant(made(one, two))
    assert both == Accountant(epsilon=2.5, delta=1e-4, source="prv and rdp")
    assert document.accountant(made(one, one)) == Accountant.model_validate(PRV)


def test_a_model_without_an_accountant_leaves_none_for_all():
    assert document.accountant(made({"accountant": STEPS | PRV}, {})) is None
    assert document.accountant(made({})) is None


def test_of_units_what_the_proof_leaves_is_held_against_the_audit():
    models = made({"accountant": STEPS | PRV}, {"accountant": STEPS | PRV})
    proof, units = document.accountant(models), document.accountant_of_units(models, 3)
    assert (units.records, units.delta, units.epsilon > 3 * proof.epsilon) == (3, 1e-5, True)
    assert document.accountant_of_units(models, 600) is None
    settings = Settings.of(AttackConfig(), units, proof)
    assert (settings.accountant, settings.of_record) == (units, proof)
    common = {"delta": 1e-5, "confidence": 0.95, "attack": "lira", "of_record": proof}
    between = (proof.epsilon + units.epsilon) / 2
    found = EpsilonAudit(lower=between, accountant=units, consistent=True, **common)
    assert "for a unit of 3 records, the most that one has" in spoken(found).sentence
    assert "Of one record by itself the accountant proves at most 2.50;" in spoken(found).sentence
    nothing = spoken(EpsilonAudit(lower=between, **common)).sentence
    assert nothing.endswith("for a unit of several, which are there or not together, that proves nothing.")


def test_notices_are_told_once_and_in_order():
    assert document.notices(made({"notices": ["One.", "Two."]}, {}, {"notices": ["Two.", "Three."]})) == [
        "In 1 of 3 models: One.",
        "In 2 of 3 models: Two.",
        "In 1 of 3 models: Three.",
    ]
    assert document.notices(made({"notices": ["One.", "One."]}, {"notices": ["One."]})) == ["One."]


def test_bounds_take_the_accountants_delta_unless_the_user_says_otherwise():
    computed = Accountant.model_validate(PRV | {"delta": 1e-6})
    assert Settings.of(AttackConfig(), computed).delta == 1e-6
    assert Settings.of(AttackConfig(), computed).accountant == computed
    assert Settings.of(AttackConfig(delta=1e-5), computed).delta == 1e-5
    assert Settings.of(AttackConfig(delta=1e-3), computed).accountant == computed
    assert Settings.of(AttackConfig()).delta == 1e-5
    assert Settings.of(AttackConfig()).accountant is None
    stated = Settings.of(AttackConfig(promised_epsilon=1.0), computed)
    assert (stated.delta, stated.accountant) == (1e-5, Accountant(epsilon=1.0, delta=1e-5, source="given"))


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (7.8894, "7.89"), (7.991, "8"), (8.0, "8"), (0.012341, "0.0124"), (123.2, "124")]
)
def test_an_upper_bound_is_rounded_up(value, text):
    assert rounded_up(value) == text
    assert float(text) >= value


def audited(folder, **values):
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    x = (rng.normal(size=(120, 6)) + np.eye(3, 6)[y]).astype(np.float32)
    common = {"models": 4, "epochs": 4, "batch_size": 16, "attacks": "loss", "architecture__widths": [8]}
    where = {"store": str(folder / "store"), "out": str(folder / "out"), "workers": 1}
    return reticent.audit(dataset=(x, y), defense="dpsgd", **common, **where, **values)


@pytest.mark.slow
def test_an_audit_shows_both_numbers(tmp_path):
    made = audited(tmp_path, recipe__procedure__epsilon=4.0)
    told = json.loads((tmp_path / "out" / "audit.json").read_text(encoding="utf-8"))["epsilon"]
    assert 0.98 * 4 <= told["accountant"]["epsilon"] <= 4
    assert (told["accountant"]["source"], told["accountant"]["delta"], told["delta"]) == ("prv", 1e-5, 1e-5)
    assert told["consistent"] is True
    assert told["lower"] <= told["accountant"]["epsilon"]
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "the accountant proves at most" in page
    assert ("measured: at least" in page) == (told["lower"] > 0)
    again = audited(tmp_path, recipe__procedure__epsilon=4.0, recipe__procedure__delta=1e-5, delta=1e-3)
    assert again.document["epsilon"]["delta"] == 1e-3
    assert again.document["epsilon"]["accountant"] == made.document["epsilon"]["accountant"]
    assert "(at delta 0.00001, and so at 0.001 too)" in again.document["epsilon"]["sentence"]
    both = audited(tmp_path, recipe__procedure__epsilon=4.0, delta=1e-3).document["epsilon"]
    assert (both["delta"], both["accountant"]["delta"]) == (1e-3, 1e-3)
    assert both["accountant"]["epsilon"] != made.document["epsilon"]["accountant"]["epsilon"]


@pytest.mark.words
def test_clipping_alone_has_no_epsilon_and_says_so(tmp_path):
    told = audited(tmp_path, recipe__procedure__noise=0.0).document
    assert told["epsilon"]["accountant"] is None
    assert WITHOUT_NOISE in told["verdict"]["cannot_say"]
    assert told["epsilon"]["unproved"] == WITHOUT_NOISE
    assert told["epsilon"]["sentence"].endswith(WITHOUT_NOISE)
    assert "there is no guarantee and no epsilon" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("found", ["1.5", "1.5.4", "0.15.0", "1.5.0rc1"])
def test_an_earlier_opacus_is_refused_by_name(monkeypatch, found):
    monkeypatch.setattr("importlib.metadata.version", lambda _: found)
    told = rf"DP-SGD needs opacus>=1\.6, and {found} is installed: pip install 'opacus>=1\.6'"
    with pytest.raises(MissingExtraError, match=told):
        needed()
    for tested in ("1.6", "1.6.0", "1.10.2", "2.0"):
        monkeypatch.setattr("importlib.metadata.version", lambda _, tested=tested: tested)
        needed()


def test_the_oldest_opacus_is_the_one_that_the_extra_installs():
    assert EXTRAS["dp"] == f"opacus>={OLDEST[0]}.{OLDEST[1]}"


def test_defenses_are_listed_without_opacus(monkeypatch):
    monkeypatch.setitem(sys.modules, "opacus", None)
    (told,) = [one for one in catalogue() if one.name == "dpsgd"]
    assert {told.clashes["relaxloss"], told.clashes["ppb"]} == {Clash()}
    assert all(told.clashes.get(name, Clash(defaults=True)).defaults for name in ("hamp", "ccl", "temperature"))
