"""What is found, as frozen typed objects; every JSON document of reticent is one of them, written out.

Decisions are codes. Sentences are added last, by `reticent.say`, from the codes and numbers alone.
"""
