"""Statistics only: from scores to findings, every number with an interval and the count behind it. NumPy and SciPy.

* one attack: `attack_audit`, from `roc`, `intervals`, `bootstrap` with `weighted_roc`, `transferred_threshold` and
  `plot_data`
* all attacks of a run: `verdict`; `epsilon` from below
* single records: `exposure` with `permutation_test`, `membership_probability`
* groups of records: `partition` says who is in which; `group_rates`, `moments`, `groups`
* recipes side by side: `comparison`
"""
