"""What is said of models that did not learn: no contradiction, and no group named."""

import pytest
from reticent.jobs.learners import named_of_learners, of_learners

from reticent.auditing.verdict import EXCLUDED
from reticent.jobs.document import health_sentences

SICK = {"models": 4, "health": [{"model": i, "problem": "p"} for i in range(4)]}
WELL = {"models": 4, "health": []}
NOTHING = "nothing to give away"
GROUP = {"name": "1", "auc": {"mean": 0.593}, "stands_out": "more", "difference": {"p_corrected": 0.01}}


def grouped(by="class"):
    return [{"by": by, "most_exposed": "1", "sentence": 'The most exposed class is "1".', "groups": [dict(GROUP)]}]


@pytest.mark.parametrize("population", [SICK, {"models": 4, "health": None}])
def test_a_leak_that_is_shown_is_not_said_to_be_nothing(population):
    verdict = {"leak": "found", "detail": "That is more than chance.", "cannot_say": []}
    told = [of_learners(verdict, population)["detail"], *health_sentences(population, "found")]
    assert not any(NOTHING in sentence for sentence in told)
    assert "models that work may give away more" in told[-1]
    assert any(NOTHING in sentence for sentence in health_sentences(population, "cannot tell"))


@pytest.mark.parametrize("sick", [1, 2, 3])
def test_where_any_model_learned_nothing_no_leak_is_excluded(sick):
    population = {"models": 4, "health": SICK["health"][:sick]}
    found = of_learners({"leak": "not found", "detail": f"Measured. {EXCLUDED}", "cannot_say": []}, population)
    assert found["leak"] == "cannot tell"
    assert EXCLUDED not in found["detail"]
    assert found["detail"].startswith(f"{sick} of 4 models did not learn. ")
    assert found["detail"].endswith("is not excluded." if sick < 3 else "have nothing to give away.")
    assert of_learners({"leak": "not found", "detail": EXCLUDED, "cannot_say": []}, WELL)["leak"] == "not found"


def test_no_group_is_named_where_the_models_learned_nothing():
    (told,) = named_of_learners(grouped(), "cannot tell", SICK)
    assert (told["most_exposed"], told["groups"][0]["stands_out"]) == (None, None)
    assert told["sentence"] == "No class is named as more or less exposed: 4 of 4 models did not learn."
    assert told["groups"][0]["difference"] == GROUP["difference"]
    assert named_of_learners(grouped("sex"), "cannot tell", SICK)[0]["sentence"].startswith("No group by sex is named")
    assert named_of_learners(grouped(), "found", SICK) == grouped()
    for population in (WELL, {"models": 4, "health": None}, {"models": 4, "health": SICK["health"][:2]}):
        assert named_of_learners(grouped(), "cannot tell", population) == grouped()
