"""What each column of ``records.csv`` says, in which order a page lists records, and what it says of one person."""

from reticent.findings.audit import ExposureCount
from reticent.findings.population import Data
from reticent.rounding import level
from reticent.say.exposure import enough
from reticent.say.grammar import agree, short

COLUMNS = {
    "record": "The record's row in the data set, counted from 0.",
    "label": "Its class, as a number.",
    "label_name": "Its class, by name.",
    "exposure": "How far apart models with the record and models without it put its margin, in standard deviations; 0: "
    "no difference.",
    "exposure_error": "The standard error of the exposure.",
    "distance": "The same gap in standard errors: how sure it is that there is any. More models make it larger.",
    "distance_p": "The chance of such a distance if the record left no trace and margins are normal, looking at this "
    "record alone.",
    "distance_p_corrected": "What to judge one record by: the chance that some record without a trace shows such a "
    "distance, all records looked at, and exact where margins are not normal (so it may rise with the distance).",
    "probability": "How sure an attacker, to whom both are equally likely before, becomes that the record was used, of "
    "a model that was trained on it; 0.5 is guessing. The attack is LiRA with its usual options, whichever attacks the "
    "audit ran.",
    "probability_low": "The lower end of that probability's interval.",
    "probability_high": "The upper end of it.",
    "found_at_own_rate": "In which share of the models trained on the record an attacker finds it who accepts 1 false "
    "alarm in 100 for this record itself; guessing finds 0.01. The attacker holds the model's margin of the record "
    "against those of models without it: no attack of the audit's table.",
    "found_low": "The lower end of that share's interval.",
    "found_high": "The upper end of it.",
    "risk_score": "How probable membership is by one model's answer alone, held against the usual answers in its class "
    "(the privacy risk score of Song and Mittal); 0.5 is guessing.",
    "memorisation": "How much more often models predict the record's label if they were trained on it.",
    "memorisation_error": "The standard error of the memorisation.",
    "memorisation_soft": "How much more probable models find the record's label if they were trained on it.",
    "memorisation_soft_error": "The standard error of that.",
    "margin_in": "How strongly models trained on the record prefer its label.",
    "margin_out": "The same of models not trained on it.",
    "margin_std_in": "How much that differs between the models trained on it: their standard deviation.",
    "margin_std_out": "The same of models not trained on it.",
    "models_in": "How many models were trained on the record.",
    "models_out": "How many were not.",
}
"""Column of ``records.csv`` -> what it says; those of groups explain themselves."""


def by_unit(data: Data) -> str:
    """Say what a record is in what is said of the list, where units are audited; else nothing."""
    unit = "" if data.unit is None else short(data.unit)
    return f"Here a record is one {unit} with all its records, in the table “By {unit}”. " * bool(unit)


def order(found: ExposureCount | None) -> str:
    """Say what the order of the list is worth."""
    if found is None or not found.records:
        return "How much single records leak is not known here."
    if not found.exposed:
        return (
            "The records are listed by their exposure, as a best guess. That one of them leaks is not shown, so a high "
            "place in the list is a reason to look at a record, not a finding."
        )
    return (
        "Some records leak more than others, and the list is in the order of exposure. Protect first the "
        f"{agree(found.exposed, 'record', f'{found.exposed:,} records')} whose corrected p is at most "
        f"{level(1 - found.confidence)}, which need not stand first in it."
    )


def one_person(found: ExposureCount | None, data: Data) -> list[str]:
    """Say what may be answered to one person, and what not."""
    lines = [
        "What can leak is one thing: that this record was used for training. Whoever finds it out holds the record "
        "already; nothing here says that its values can be read out of a model.",
        "Look it up in the table by its number, its row in the data set counted from 0.",
        "The numbers are of models that were trained in the same way, with and without the record. Whether the model "
        "in use was trained on it, its owner knows; if it was not, it gives nothing of it away.",
    ]
    if data.unit is not None:
        unit = short(data.unit)
        lines[1] = (
            f"Look it up in the table “By {unit}” by its value there. A line is one {unit} with all its records, as in "
            "the verdict; the list of records says which of them show it most."
        )
    if found is not None and found.records:
        most = level(1 - found.confidence)
        judged = f"That the record leaks is shown if its corrected p is at most {most}; all else may be chance"
        if found.distance_needed is None:
            needed = enough(found)
            could = f"{needed} or more could" if needed > (found.models or 0) else "records in half of them could"
            judged = f"That one record leaks cannot be shown by {found.models} models: {could}"
        lines.append(f"{judged}. The probability of membership is an estimate: it counts with its interval.")
    lines.append(
        "Low numbers clear nobody: they are what these attacks found. To expose a record less, train with a "
        "defense, or without the record, and audit again: then others may be the most exposed."
    )
    return lines
