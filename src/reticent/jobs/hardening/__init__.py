"""What `reticent harden` is made of.

* `roles`: members, non-members, reference: from files or arrays, or as rows of one data set; checked
* `checks`: everything else that is checked before training: recipes, the model's states, references
* `latency`: how long a pruned model takes to answer
* `repair`: the repaired model, found in the store or made
* `before_after`: what attacks find before and after, as findings
"""
