"""The self-test: does this installation give right numbers?

* `run`: the table of groups, and `selftest`
* `metrics`, `epsilons`, `methods`, `attacks`, `asking`, `steps`, `training`: the checks
* `made`: signals whose leak is known
* `line`, `result`: what a check yields, and what comes out
"""

from reticent.jobs.selftest.result import Check, Selftested
from reticent.jobs.selftest.run import GROUPS, selftest

__all__ = ["GROUPS", "Check", "Selftested", "selftest"]
