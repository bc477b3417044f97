"""Run groups of checks, one after the other; a check that fails to run is a wrong one, not a crash."""

import time
from collections.abc import Callable, Iterator, Sequence

from reticent.ambient import fixed
from reticent.errors import InputError, UnknownNameError
from reticent.jobs.selftest import asking, attacks, epsilons, methods, metrics, steps, training
from reticent.jobs.selftest.line import Group
from reticent.jobs.selftest.result import Check, Selftested

GROUPS: dict[str, Group] = {
    "metrics": Group("AUC, rates and balanced accuracy of eight scores, by hand.", metrics.metrics),
    "limits": Group("Confidence limits: Clopper-Pearson, DeLong, bootstrap.", metrics.limits),
    "epsilon": Group("Lower bounds on epsilon: below a known one, and none where nothing leaks.", epsilons.epsilons),
    "margins": Group("Margins, from logits, without loss of digits.", methods.margins),
    "membership": Group("Each record in exactly half of the models.", methods.membership),
    "memorisation": Group("Feldman's score, from a table of right and wrong answers.", methods.memorisation),
    "formulas": Group("Loss, LiRA and RMIA against their papers, computed plainly.", methods.formulas),
    "leak": Group("A planted leak that every attack must find, the right way round.", attacks.leak),
    "null": Group("Signals without a leak, in which no attack may find one.", attacks.null),
    "own-references": Group("No target is among its own references.", attacks.own_references),
    "eval-mode": Group("Models are asked in eval mode.", asking.eval_mode),
    "optimizers": Group("Steps of the optimizers against their papers.", steps.steps),
    "engine": Group("A small real audit: training, resuming, determinism, report.", training.engine),
}
"""Every group of checks, by name, the cheap ones first."""
CRASHED = "The check itself did not run to its end; this part of the installation, or what it rests on, is broken."


@fixed()
def selftest(only: str | Sequence[str] = (), *, progress: Callable[[str], None] | None = None) -> Selftested:
    """Check that this installation gives right numbers: closed forms, a planted leak, a null, a small audit.

    Example:
        >>> import reticent
        >>> reticent.selftest(only="metrics").ok
        True
    """
    names = [only] if isinstance(only, str) else list(only)
    for name in names:
        if name not in GROUPS:
            raise UnknownNameError("group of checks", name, GROUPS)
    if len(set(names)) != len(names):
        raise InputError(f"only: expected each group once, got {', '.join(names)}")
    checks: list[Check] = []
    for name in names or GROUPS:
        if progress is not None:
            progress(name)
        checks.extend(_timed(name, GROUPS[name]))
    return Selftested(tuple(checks))


def _timed(name: str, group: Group) -> Iterator[Check]:
    lines = group.run()
    while True:
        started = time.perf_counter()
        try:
            line = next(lines)
        except StopIteration:
            return
        except Exception as error:  # noqa: BLE001 (whatever is broken, the other checks go on)
            told = " ".join(f"{type(error).__name__}: {error}".split())
            seconds = round(time.perf_counter() - started, 3)
            yield Check(f"{name}/runs", "runs to its end", told, ok=False, seconds=seconds, fault=CRASHED)
            return
        seconds = round(time.perf_counter() - started, 3)
        fault = None if line.ok else line.fault
        yield Check(f"{name}/{line.name}", line.expected, line.got, ok=line.ok, seconds=seconds, fault=fault)
