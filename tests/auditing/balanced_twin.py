"""Balanced accuracy at a threshold by its definition: scores at or above it are called members."""


def balanced_accuracy_at(scores, members, threshold):
    called = scores >= threshold
    return (called[members].mean() + 1 - called[~members].mean()) / 2
