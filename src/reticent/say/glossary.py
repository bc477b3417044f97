"""The words of all reports, with a line on what each means."""

GLOSSARY = {
    "Member": "A record that a model was trained on. All other records are its non-members.",
    "Membership inference": "Working out from a model's answers whether a record was in its training set.",
    "False positive rate (FPR)": "The share of records that were not used for training but are taken for members.",
    "True positive rate (TPR)": "The share of members that an attack finds. Guessing finds as many as its FPR.",
    "AUC": "The chance that a random member scores higher than a random non-member: 0.5 is guessing, 1 certainty.",
    "Balanced accuracy": "The mean of the shares of members and of non-members that are told right; guessing: 0.5.",
    "Interval": "A range made to hold the true value in the stated share of audits like this one.",
    "Not measurable": "There are so few non-members that one false alarm is more than the rate asked for.",
    "Exposure": "How far apart models with and without the record put its margin, in standard deviations.",
    "Memorisation": "How much more often models predict a record's label if they were trained on it.",
    "Margin": "How strongly a model prefers a record's label over all others.",
    "Epsilon": "Measures a guarantee of differential privacy: 0 is perfect; the larger, the surer an attacker can be.",
    "Accountant": "The calculation that proves, from the noise in training, an epsilon that is not exceeded.",
    "Control": "The same measurement where there is nothing to find, so that every finding would be an error.",
    "Corrected p": "How often chance alone shows such a difference, allowing for all that were looked at.",
}


def terms(*words: str) -> tuple[tuple[str, str], ...]:
    """Explain some of the words."""
    return tuple((word, GLOSSARY[word]) for word in words)
