"""The self-test: does this installation give right numbers?

* `run`: the table of groups, and `selftest`
* `statistics`, `methods`, `attacks`, `queries`, `training`: the checks
* `synthetic`: signals whose leak is known
* `checks`: the ways to make one
"""

from reticent.jobs.selftest.run import GROUPS, selftest

__all__ = ["GROUPS", "selftest"]
