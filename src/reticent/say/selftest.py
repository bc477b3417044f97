"""What a self-test found, in words."""

from reticent.findings.selftest import Fault

FAULTS = {
    Fault.SIGN: "A sign: higher scores must mean members, in every metric.",
    Fault.TIES: "Ties: equal scores must count half, and may not be told apart by the order of the records.",
    Fault.RATE: "A rate at exactly the false positive rate asked for must count, without interpolation, and 29 false "
    "positives of 100 are allowed at 0.29, although the product of binary numbers is just below.",
    Fault.BINOMIAL_TAIL: "A wrong tail of the binomial: the limits of a rate are not those of Clopper and Pearson.",
    Fault.DELONG: "The variance of an AUC is not that of DeLong: its intervals are too short or too long.",
    Fault.BOOTSTRAP: "The bootstrap does not redraw what it must: intervals over models are too short or too long.",
    Fault.EPSILON_TOO_HIGH: "A bound on epsilon that is above what is true: a wrong tail, a threshold chosen on the "
    "scores that it is judged on, or limits that do not hold together. It accuses a training that keeps its promise.",
    Fault.EPSILON_BLIND: "A bound on epsilon that finds nothing of a known leak: a wrong tail, or members and "
    "non-members exchanged.",
    Fault.EPSILON_FORMULA: "The formula of a bound on epsilon is wrong: a sign, or a tail.",
    Fault.PRECISION: "Precision: margins must come from logits in 64-bit numbers; through probabilities, or in 32 "
    "bits, they saturate.",
    Fault.MARGIN: "A sign, or the label counted among the others.",
    Fault.MEMBERSHIP: "Members are not drawn as the attacks assume: each record in exactly half of the models, and "
    "the same draw by the same seed.",
    Fault.MEMORISATION: "Memorisation is not Feldman's: the share of right answers of models trained on a record, "
    "minus that of the others.",
    Fault.FORMULA: "The attack does not compute its paper's formula: a sign, a wrong reference set or variance.",
    Fault.ATTACK_SIGN: "A sign: the attack gives members lower scores than non-members.",
    Fault.ATTACK_BLIND: "The attack is blind: it does not find a leak that was planted for it.",
    Fault.EXCHANGED: "A sign, or equal scores: with members and non-members exchanged, the AUC must be one minus the "
    "AUC, ties counted half. The metric, not the attack, is wrong.",
    Fault.OWN_REFERENCE: "A target among its own references: what the target itself says, or its own row of the "
    "membership, entered what it is compared with. Audits by this attack find leaks that are not there, or hide some.",
    Fault.REFERENCE_COUNT: "The number of references reached the scores: a target's members have one reference fewer "
    "that was trained on them than its non-members. Audits of few models find leaks that are not there.",
    Fault.FALSE_LEAK: "A leak is seen where there is none: something that depends on membership alone reached the "
    "scores (a target among its own references, the number of references, the order of the records).",
    Fault.FALSE_VERDICT: "The verdict calls a leak where there is none: the choice of the best attack is not corrected "
    "for, or an interval is too short.",
    Fault.FALSE_EPSILON: "A bound on epsilon where nothing leaks: the choice of attack, target or threshold is not "
    "corrected for.",
    Fault.TRAINING_MODE: "A model asked in training mode, or no guard against that: dropout draws noise into its "
    "answers, and batch normalisation looks at the other records of the batch, so that signals are not what the "
    "finished model says.",
    Fault.OPTIMIZER: "The optimizer does not take its paper's (and PyTorch's) steps: models are not trained as their "
    "recipe says.",
    Fault.NOT_LEARNED: "Models do not learn: the optimizer, the order of the records or the labels are wrong.",
    Fault.AUDIT: "An audit of real models is off: too low is a sign or a blind attack; too high is a target among its "
    "own references, or members that are told by something else than training.",
    Fault.REPORT: "The report is not written whole: what is read from disk is not what was measured.",
    Fault.NOT_FOUND: "Finished models are not found, or an audit of the same models says something else.",
    Fault.NOT_DETERMINISTIC: "Training is not deterministic on this CPU: the same seed gives another model, so no "
    "audit can be repeated.",
    Fault.CRASHED: "The check did not run to its end; this part of the installation, or what it rests on, is broken.",
}


def sentence(ok: bool, wrong: int, count: int) -> str:
    """Say what came out."""
    if ok:
        return f"This installation gives the right numbers in all {count} checks."
    return (
        f"This installation gives wrong numbers in {wrong} of {count} checks: do not trust an audit by it until they "
        "are right."
    )
