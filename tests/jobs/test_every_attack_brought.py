"""Every attack by its name on outputs that were made elsewhere: it runs, or says what it lacks."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB

import reticent
from reticent.attacks import ATTACKS, needs_models

pytestmark = pytest.mark.slow
NEEDS = {name: entry.needs(entry.spec()) for name, entry in ATTACKS.items()}
ALONE = {"confidence", "entropy", "modified-entropy"}
"""What one model's outputs are enough for: those without thresholds of classes, and what needs no more."""
ALONE |= {name for name, needs in NEEDS.items() if needs.alone and not (needs.inputs or needs.probes)}
RECORDS = {"quantile"}
"""What needs the records beside the outputs."""


@pytest.fixture(scope="module")
def outputs():
    x, y = (part[:600] for part in load_digits(return_X_y=True))
    membership = reticent.Membership.draw(8, len(y), 0).matrix
    said = np.stack([GaussianNB(var_smoothing=0.1).fit(x[rows], y[rows]).predict_proba(x) for rows in membership])
    return {"labels": y, "probabilities": said, "membership": membership}


def attacked(outputs, name):
    entry = ATTACKS[name]
    short = {name: entry.short.model_dump(exclude_unset=True)} if entry.fitted else {}
    return reticent.attack(**outputs, attacks=[name], options=short, replicates=100)


@pytest.mark.parametrize("name", ATTACKS)
def test_outputs_of_eight_classifiers_of_scikit_learn(name, outputs):
    if needs_models(name) or name in RECORDS:
        with pytest.raises(reticent.ReticentError, match=rf"^{name}: expected .*got .*: (give|run) "):
            attacked(outputs, name)
    else:
        found = attacked(outputs, name)
        assert [one.name for one in found.findings.attacks] == [name]
        assert found.scores[name].shape == (8, 600)


@pytest.mark.parametrize("name", ATTACKS)
def test_outputs_of_one_classifier(name, outputs):
    alone = outputs | {key: outputs[key][:1] for key in ("probabilities", "membership")}
    if name in ALONE:
        assert attacked(alone, name).scores[name].shape == (1, 600)
        return
    with pytest.raises(reticent.ReticentError, match=rf"^{name}: expected .*(got|train) ") as told:
        attacked(alone, name)
    assert "Add rows" not in str(told.value)
