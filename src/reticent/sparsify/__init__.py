"""Sparse networks: masks as data, what is left by which criterion, and filters that go with all that hangs on them."""
