"""The store for people: what is in it, whether it still holds, and how to remove what is not wanted.

* `inventory`: every folder of ``runs/``, with its state
* `groups`: runs of one recipe, data set and seed as one line
* `verify`: every hash anew
* `remove`: what to remove, and removing it
"""
