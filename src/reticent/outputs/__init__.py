"""Output defenses: what is done to a model's answers before anyone sees them, one file each."""

from reticent.outputs import hamp_output, memguard, rounding, temperature, top_k
from reticent.outputs.base import Context, Output, OutputEntry
from reticent.training.recipe import Untouched


def untouched(spec: Untouched, context: Context) -> Output:
    """Return the identity: the model's answers as they are."""
    return lambda logits, x: logits


OUTPUTS: dict[str, OutputEntry] = {
    "hamp-output": hamp_output.ENTRY,
    "memguard": memguard.ENTRY,
    "none": OutputEntry(Untouched, untouched, "The model's answers as they are."),
    "rounding": rounding.ENTRY,
    "temperature": temperature.ENTRY,
    "top-k": top_k.ENTRY,
}

__all__ = ["OUTPUTS", "Context", "Output", "OutputEntry"]
