"""A gate: limits held against an audit's document; a pass is a claim, so the upper confidence limit is judged.

* `limits`: what a user may ask for, from flags, TOML and Python
* `check`: one limit and what became of it; how doubts about an audit bear on it
* `leak`: AUC and TPR, over every attack
* `groups`: the same for the groups of records
* `bounds`: epsilon, and the accuracy that a broken model would not have
* `judge`: all together
"""
