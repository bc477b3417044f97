"""From scores to numbers: every one with an interval and the count of records behind it. NumPy and SciPy only.

* `roc`: the exact curve, AUC, rates at a false-positive rate, balanced accuracy
* `intervals`: Clopper-Pearson, DeLong on the logit scale, quantiles
* `bootstrap`, `weighted`: over models and records, by weights
* `transfer`: a threshold chosen where the attacker can choose one
* `curves`: what the report draws
* `results`, `audit`: one attack's audit, and its JSON form
* `comparison`: recipes side by side, in pairs
* `exposure`: per record, from the signals
* `verdict`, `wording`: what all audits together say, in plain words
"""
