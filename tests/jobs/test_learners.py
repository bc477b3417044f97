"""What follows from models that did not learn: no contradiction, and no group named."""

import numpy as np
import pytest

import reticent
from reticent.auditing.groups import allow_for_unlearned as allow_for_unlearned_groups
from reticent.auditing.verdict import allow_for_unlearned
from reticent.data.membership import Membership
from reticent.findings.attack import Audit, Overall, TargetAccuracy, TargetAudit
from reticent.findings.audit import Group, GroupDifference, Grouping, Leak, Reason, Verdict
from reticent.findings.numbers import Area, ShareEstimate
from reticent.findings.population import Population, Unlearned
from reticent.say import groups as say_groups
from reticent.say import next_steps
from reticent.say.population import unhealthy
from reticent.say.verdict import CONCLUSIONS, spoken

SICK = Population(models=4, health=tuple(Unlearned(model=i, problem="p") for i in range(4)))
WELL = Population(models=4, health=())
UNKNOWN = Population(models=4, health=None)
NOTHING = "nothing to leak"
AREA = ShareEstimate(mean=0.593, interval=(0.5, 0.7))
APART = GroupDifference(mean=0.1, interval=(0.05, 0.15), p=0.01, p_corrected=0.01)
TARGET = TargetAudit(
    model=0,
    members=100,
    non_members=100,
    auc=Area(value=0.5, interval=(0.4, 0.6)),
    tpr_at_fpr=(),
    balanced_accuracy=TargetAccuracy(oracle=0.6),
)
AUDIT = Audit(name="lira", confidence=0.95, overall=Overall(auc=AREA), targets=(TARGET,) * 8)


def said(leak, reason):
    return Verdict(attack="lira", best_of=1, auc=0.593, confidence=0.95, leak=leak, reason=reason)


def told(leak, reason, population):
    return spoken(allow_for_unlearned(said(leak, reason), population), [AUDIT], population)


def grouped(by="class"):
    group = Group(name="1", auc=AREA, stands_out="more", difference=APART)
    return Grouping(by=by, most_exposed="1", groups=(group,))


@pytest.mark.parametrize("population", [SICK, UNKNOWN])
def test_a_leak_that_is_shown_is_not_said_to_be_nothing(population):
    found = told(Leak.FOUND, Reason.MORE_THAN_CHANCE, population)
    assert found.leak is Leak.FOUND
    sentences = [found.detail, *unhealthy(population, Leak.FOUND)]
    assert not any(NOTHING in sentence for sentence in sentences)
    assert "models that work may leak more" in sentences[-1]
    assert any(NOTHING in sentence for sentence in unhealthy(population, Leak.CANNOT_TELL))


def test_where_no_model_that_was_brought_learned_the_labels_are_checked_first():
    brought = SICK.with_(targets=(0, 1, 2, 3))
    check = "Each of the 4 models labels its own training records no better than naming one class would: check first"
    for leak, reason in ((Leak.FOUND, Reason.MORE_THAN_CHANCE), (Leak.NOT_FOUND, Reason.EXCLUDED)):
        assert told(leak, reason, brought).sentence.startswith(check)
        for others in (SICK, brought.with_(health=SICK.health[:3]), WELL.with_(targets=(0,)), UNKNOWN):
            assert check not in told(leak, reason, others).sentence


def test_labels_of_other_records_are_the_first_step():
    rng = np.random.default_rng(0)
    labels, membership = rng.integers(0, 5, 400), Membership.draw(8, 400, 0).matrix
    logits = rng.normal(size=(8, 400, 5))
    logits[:, np.arange(400), labels] += 2 + 2 * membership
    for shown, steps in ((labels, 0), (np.roll(labels, 1), 2)):
        found = reticent.attack(logits=logits, labels=shown, membership=membership, attacks="learned").findings
        assert found.verdict.leak is Leak.FOUND
        told = [step for step, _ in next_steps.after(found)]
        assert len([step for step in told if "labels are in the order of the records" in step]) == steps / 2
        assert not steps or len(told) == steps


def test_a_figure_over_all_models_is_not_said_to_be_that_of_the_models_that_learned():
    some = told(Leak.FOUND, Reason.MORE_THAN_CHANCE, SICK.with_(health=SICK.health[:3])).detail
    assert "3 of 4 models did not learn. Every figure is a mean over all audited models" in some
    every = SICK.with_(models=3)
    assert "They leak all the same" in told(Leak.FOUND, Reason.MORE_THAN_CHANCE, every).detail


@pytest.mark.parametrize("sick", [1, 2, 3])
def test_where_any_model_learned_nothing_no_leak_is_excluded(sick):
    population = SICK.with_(health=SICK.health[:sick])
    found = told(Leak.NOT_FOUND, Reason.EXCLUDED, population)
    assert found.leak is Leak.CANNOT_TELL
    assert CONCLUSIONS[Reason.EXCLUDED] not in found.detail
    assert found.detail.startswith(f"{sick} of 4 models did not learn. ")
    assert found.detail.endswith("is not excluded." if sick < 3 else "has nothing to leak.")
    assert told(Leak.NOT_FOUND, Reason.EXCLUDED, WELL).leak is Leak.NOT_FOUND


def test_where_nobody_knows_whether_models_learned_no_leak_is_excluded():
    found = told(Leak.NOT_FOUND, Reason.EXCLUDED, UNKNOWN)
    assert (found.leak, found.reason) == (Leak.CANNOT_TELL, Reason.LEARNING_UNKNOWN)
    assert "it is not known whether the models learned" in found.detail


@pytest.mark.parametrize("reason", [Reason.TOO_SMALL, Reason.FEW_MODELS, Reason.TIES])
def test_more_models_that_learned_nothing_would_not_tell(reason):
    found = told(Leak.CANNOT_TELL, reason, SICK)
    assert found.reason is Reason.MOST_UNLEARNED
    assert any("train better first" in line for line in found.cannot_say)
    assert told(Leak.CANNOT_TELL, Reason.FEW_RECORDS, SICK).reason is Reason.FEW_RECORDS


def test_no_group_is_named_where_the_models_learned_nothing():
    found = allow_for_unlearned_groups(grouped(), SICK)
    assert (found.most_exposed, found.groups[0].stands_out) == (None, None)
    assert found.groups[0].difference == APART
    sentence = say_groups.spoken(found, (), SICK).sentence
    assert sentence == "No class is named as more or less exposed: 4 of 4 models did not learn."
    by_sex = allow_for_unlearned_groups(grouped("sex"), SICK)
    assert say_groups.spoken(by_sex, (), SICK).sentence.startswith("No group by sex is named")
    for population in (WELL, UNKNOWN, SICK.with_(health=SICK.health[:2])):
        assert allow_for_unlearned_groups(grouped(), population) == grouped()
