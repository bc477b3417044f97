"""Models trained together are as accurate, and leak as much, as models trained alone: 64 of each, by other bits."""

import pytest

import reticent

RECIPE = {"architecture": {"name": "fc", "widths": [64, 32], "dropout": 0.3}, "augmentation": "gaussian"}


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stacks")
    common = {"dataset": "digits", "models": 64, "epochs": 8, "validation": 200, "attacks": ["lira"], "replicates": 300}
    common |= {"recipe": RECIPE | {"patience": 4}, "store": folder / "store", "workers": 1, "device": "cpu"}
    return [reticent.audit(**common, stack=stack, out=folder / str(stack)).document for stack in (1, 16)]


@pytest.mark.slow
def test_the_models_are_others_and_say_so(documents):
    alone, together = (document["population"] for document in documents)
    assert "stacked" not in alone
    assert together["stacked"] is True
    accuracies = [[one["accuracy_members"] for one in each["per_model"]] for each in (alone, together)]
    assert sum(a != b for a, b in zip(*accuracies, strict=True)) > 32


@pytest.mark.slow
def test_accuracy_auc_and_tpr_differ_within_their_intervals(documents):
    alone, together = documents
    for side in ("members", "non_members"):
        first, second = (document["population"]["accuracy"][side] for document in documents)
        spread = (first["std"] ** 2 + second["std"] ** 2) ** 0.5 / 64**0.5
        assert abs(first["mean"] - second["mean"]) < 2 * spread, side
    overall = [document["attacks"][0]["overall"] for document in (alone, together)]
    rates = [next(rate for rate in each["tpr_at_fpr"] if rate["fpr"] == 0.01) for each in overall]
    for first, second in ((overall[0]["auc"], overall[1]["auc"]), (rates[0]["tpr"], rates[1]["tpr"])):
        low, high = first["interval"]
        assert low <= second["mean"] <= high
        low, high = second["interval"]
        assert low <= first["mean"] <= high
    assert overall[0]["auc"]["interval"][0] > 0.5
