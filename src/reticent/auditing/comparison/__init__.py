"""Recipes side by side, on the same records, under the same membership: what differs, and what is a tie.

* `scores`: what is compared, and that it can be
* `rows`, `pairs`, `standing`, `compare`: the numbers of ``compare.json``
* `paired`: a difference with its interval and p-value; both recipes answer for the same records and targets
* `mcnemar`: members that only one of two recipes gives away
* `multiple`: Holm's and Rüger's corrections
"""
