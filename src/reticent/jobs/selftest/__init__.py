"""The self-test: does this installation give right numbers?

* `run`: the table of groups, and `selftest`
* `statistics`, `methods`, `attacks`, `asking`, `engine`: the checks
* `made`: signals whose leak is known
* `checks`: the ways to make one
"""

from reticent.jobs.selftest.run import GROUPS, selftest

__all__ = ["GROUPS", "selftest"]
