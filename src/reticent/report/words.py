"""The sentences of the report that do not depend on the numbers."""

from typing import NamedTuple


class Leak(NamedTuple):
    """How one state of the verdict is shown: by a word, an icon and a colour, never by a colour alone."""

    state: str
    word: str
    style: str
    meaning: str


LEAKS = {
    "found": Leak(
        "found",
        "Leak found",
        "found",
        "Whoever may ask such a model can learn of some records that they were used to train it.",
    ),
    "not found": Leak(
        "not found",
        "No leak found",
        "safe",
        "This holds for the attacks that were tried; others may find more.",
    ),
    "cannot tell": Leak(
        "cannot tell",
        "Cannot tell",
        "unsure",
        "That is neither a pass nor a fail: more records, or more models, may settle it.",
    ),
}
"""State of the verdict -> how it is shown; any other state is shown as "cannot tell"."""
UNSURE_OF_LEARNERS = "That is neither a pass nor a fail: models that all learn may settle it."
"""What "cannot tell" means where some models did not learn."""

GLOSSARY = (
    ("Member", "A record that the model in question was trained on. Every other record is a non-member."),
    ("Membership inference", "Working out from a model's answers whether a given record was in its training set."),
    ("FPR (false-positive rate)", "The share of non-members that an attack wrongly calls members: its false alarms."),
    ("TPR (true-positive rate)", "The share of members that an attack finds. Blind guessing finds as many as its FPR."),
    (
        "AUC",
        "The chance that a random member scores higher than a random non-member: 0.5 is guessing, 1 is certainty.",
    ),
    (
        "Balanced accuracy",
        "The mean of the share of members called right and of non-members called right; guessing: 0.5.",
    ),
    (
        "Interval",
        "How far chance may have moved a number: made to hold the true value in the stated share of such audits.",
    ),
    ("Not measurable", "So few non-members that even one false alarm is a higher rate than the one asked for."),
    (
        "Exposure",
        "How far apart models with and without the record put its margin, in standard deviations; 0 is no trace.",
    ),
    ("Memorisation", "How much better models know the record's label if they were trained on it."),
    (
        "Epsilon",
        "The strength of a promise of differential privacy: 0 is perfect; the larger, the surer an attacker can be.",
    ),
    ("Accountant", "The calculation that proves, from the noise in training, an epsilon that is never exceeded."),
    ("Control", "The same measurement where the answer is known in advance: there is nothing to find."),
    ("Corrected p", "How often chance alone would show such a difference, allowing for all those that were looked at."),
    ("Margin", "How strongly a model prefers the record's label over all others; the higher, the surer."),
)
"""Word -> one line."""

NAMES = {
    "reticent": "reticent",
    "python": "Python",
    "torch": "PyTorch",
    "numpy": "NumPy",
    "scipy": "SciPy",
    "peak_memory_bytes": "peak memory",
    "duplicates": "exact duplicates",
    "models_found": "models found finished",
}
"""Keys whose names on the page are not just the key's words."""

COUNTED = frozenset({"records", "classes", "duplicates", "models", "parameters", "replicates", "models_found"})
"""Keys whose values count things."""

ROLES = {
    "audited": "members and non-members in turn",
    "validation": "validation (stops and picks models)",
    "reference": "the defender's reference non-members",
    "population": "the attacker's population",
}
"""The disjoint roles of records."""
