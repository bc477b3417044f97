"""Output defenses: what is done to a model's answers before anyone sees them, one file each."""

from reticent.outputs import temperature, untouched
from reticent.outputs.base import Context, Output, OutputEntry
from reticent.training.recipe import Untouched

OUTPUTS: dict[str, OutputEntry] = {
    "none": OutputEntry(Untouched, untouched.build, "The model's answers as they are."),
    "temperature": OutputEntry(
        temperature.Temperature,
        temperature.build,
        "Logits divided by a constant; the order of classes stays.",
        paper="Guo et al. (2017), ICML",
    ),
}

__all__ = ["OUTPUTS", "Context", "Output", "OutputEntry"]
