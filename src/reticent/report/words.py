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
        "The models' answers tell training records from other records better than chance does.",
    ),
    "not found": Leak(
        "not found",
        "No leak found",
        "safe",
        "No attack tried here told training records from other records better than chance does. Other attacks may.",
    ),
    "cannot tell": Leak(
        "cannot tell",
        "Cannot tell",
        "unsure",
        "This audit is too small to tell a leak from chance. That is neither a pass nor a fail.",
    ),
}
"""State of the verdict -> how it is shown; any other state is shown as "cannot tell"."""

GLOSSARY = (
    ("Member", "A record that the model in question was trained on. Every other record is a non-member."),
    ("Membership inference", "Working out from a model's answers whether a given record was in its training set."),
    ("FPR (false-positive rate)", "The share of non-members that an attack wrongly calls members: its false alarms."),
    ("TPR (true-positive rate)", "The share of members that an attack finds. Blind guessing finds as many as its FPR."),
    (
        "AUC",
        "The chance that a random member gets a higher score than a random non-member: 0.5 is guessing, 1 is certainty.",
    ),
    ("Balanced accuracy", "The mean of the share of members called right and of non-members called right; guessing: 0.5."),
    (
        "Interval",
        "A range that holds the true value in 95 of 100 such audits. Two wide ranges that overlap are no difference.",
    ),
    ("Not measurable", "So few non-members that even one false alarm is a higher rate than the one asked for."),
    (
        "Exposure",
        "How far the models trained on a record stand from those that were not, in standard errors; 0 is no trace.",
    ),
    ("Memorisation", "How much likelier a model is to get a record right because it was trained on it."),
    ("Margin", "How strongly a model prefers the record's label over all others; the higher, the surer."),
)
"""Word -> one line."""

COLUMNS = (
    ("record", "Record"),
    ("label", "Class"),
    ("exposure", "Exposure"),
    ("memorisation", "Memorisation"),
    ("margin_in", "Margin with it"),
    ("margin_out", "Margin without it"),
    ("models_in", "Models with it"),
    ("models_out", "Models without it"),
)
"""The columns of the page's record table."""

ENVIRONMENT = {
    "reticent": "reticent",
    "python": "Python",
    "torch": "PyTorch",
    "numpy": "NumPy",
    "seconds_training": "training time",
    "seconds_scoring": "scoring time",
    "started": "started",
}
"""Keys of the environment whose names on the page differ from the key."""

ROLES = {
    "audited": "members and non-members in turn",
    "validation": "validation (stops and picks models)",
    "reference": "the defender's reference non-members",
    "population": "the attacker's population",
}
"""The disjoint roles of records."""
