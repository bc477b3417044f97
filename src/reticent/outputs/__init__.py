"""Output defenses: what is done to a model's answers before anyone sees them, one file each."""

from reticent.outputs import hamp_output, memguard, rounding, temperature, top_k, untouched
from reticent.outputs.base import Context, Output, OutputEntry
from reticent.training.recipe import Untouched

OUTPUTS: dict[str, OutputEntry] = {
    "hamp-output": OutputEntry(
        hamp_output.HampOutput,
        hamp_output.build,
        "What the model says of a random input, handed to the classes in the query's order.",
        paper="Chen and Pattabiraman (2024), NDSS",
        cost="one more question to the model a query, and the draw of its input, which takes longer",
        more=hamp_output.needs,
        reads_members=lambda spec: spec.features == "auto",
        instead='give its option features, such as features="bits" (pictures and tokens need no rule, and take any)',
    ),
    "memguard": OutputEntry(
        memguard.MemGuard,
        memguard.build,
        "Noise on the answer that leaves the defender's own attack undecided, within a budget.",
        paper="Jia et al. (2019), CCS",
        cost="half a second a model for a small network, and some hundred of its gradients a query",
        needs=("reference",),
        reads_members=bool,
        instead="use top-k, rounding or hamp-output with its option features",
    ),
    "none": OutputEntry(Untouched, untouched.build, "The model's answers as they are."),
    "rounding": OutputEntry(
        rounding.Rounding,
        rounding.build,
        "Probabilities to a few decimal digits.",
        paper="Shokri et al. (2017), S&P",
    ),
    "temperature": OutputEntry(
        temperature.Temperature,
        temperature.build,
        "Logits divided by a constant; the order of classes stays.",
        paper="Guo et al. (2017), ICML",
    ),
    "top-k": OutputEntry(
        top_k.TopK,
        top_k.build,
        "The k largest probabilities, and what is left spread evenly over the other classes.",
        check=top_k.check,
        paper="Shokri et al. (2017), S&P",
    ),
}

__all__ = ["OUTPUTS", "Context", "Output", "OutputEntry"]
