"""Models of a population that could not be made, as one error: each reason once, with the models that it holds for."""

from collections.abc import Sequence

from reticent.errors import ReticentError, StoreLockedError

Failure = tuple[int, ReticentError]
"""A model's row, and why it could not be made; the message begins with the row."""
SHOWN = 5
"""So many reasons are told at most."""


def failure(failures: Sequence[Failure], done: int, total: int) -> ReticentError:
    """Put the failures of a population together."""
    real = [one for one in failures if not isinstance(one[1], StoreLockedError)] or failures
    reasons: dict[str, list[int]] = {}
    for model, error in real:
        reasons.setdefault(str(error).removeprefix(f"model {model}: "), []).append(model)
    told = [_told(reason, models) for reason, models in reasons.items()]
    shown = "\n".join(f"  {one}" for one in told[:SHOWN]) + ("\n  ..." if len(told) > SHOWN else "")
    left = total - done - len(failures)
    untried = f"; {left} {'was' if left == 1 else 'were'} not tried after that" if left else ""
    kept = f"{done} {'is' if done == 1 else 'are'} finished and kept{untried}"
    locked = isinstance(real[0][1], StoreLockedError)
    what = f"{'is' if len(real) == 1 else 'are'} being made by another process" if locked else "could not be made"
    return real[0][1].retold(f"{len(failures)} of {total} models {what} ({kept}):\n{shown}")


def _told(reason: str, models: Sequence[int]) -> str:
    first, *others = sorted(models)
    if not others:
        return f"model {first}: {reason}"
    return f"model {first}: {reason}\n  model{'s' * (len(others) > 1)} {', '.join(map(str, others))}: the same"
