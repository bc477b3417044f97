"""Models as `population.worker` makes them, of facts that a test cares for."""

from reticent.findings.training import SignalsFacts
from reticent.population.worker import Made

USUAL = {"seconds": 1.0, "parameters": 10, "members": 100, "largest_class_share": 0.5}
USUAL |= {"accuracy_members": 0.9, "accuracy_non_members": 0.8}


def signals_facts(**more):
    return SignalsFacts.model_validate({"model": 0, "of": "a", **USUAL, **more})


def made(*facts):
    """Make a model of each mapping of facts, in its order."""
    return [Made(i, "a", "b", signals_facts(model=i, **one), fresh=True) for i, one in enumerate(facts)]
