"""Run groups of checks, one after the other; a check that fails to run is a wrong one, not a crash."""

import time
from collections.abc import Callable, Iterator, Sequence

from reticent.errors import InputError, UnknownNameError
from reticent.findings.selftest import Check, Fault, Selftested
from reticent.jobs.document import versions
from reticent.jobs.selftest import attacks, methods, queries, statistics, training
from reticent.jobs.selftest.checks import Checks, check
from reticent.say.selftest import FAULTS, sentence
from reticent.torch_state import fixed

GROUPS: dict[str, Callable[[], Checks]] = {
    "metrics": statistics.metrics,
    "limits": statistics.limits,
    "epsilon": statistics.epsilons,
    "margins": methods.margins,
    "membership": methods.membership,
    "memorisation": methods.memorisation,
    "formulas": methods.formulas,
    "leak": attacks.leak,
    "null": attacks.null,
    "own-references": attacks.own_references,
    "networks": attacks.networks,
    "eval-mode": queries.eval_mode,
    "optimizers": training.optimizers,
    "engine": training.engine,
}
"""Every group of checks, by name, the cheap ones first (``docs/selftest.md``)."""


@fixed()
def selftest(only: str | Sequence[str] = (), *, progress: Callable[[str], None] | None = None) -> Selftested:
    """Check that this installation gives right numbers: closed forms, a planted leak, a null, a small audit.

    Args:
        only: a group of checks of ``docs/selftest.md``, or several, in which order they run; by default all.
        progress: called with each group's name before it runs.

    Returns:
        Whether all is right (`ok`, `sentence`), the `checks`, and those that are `wrong`; it takes half a minute.

    Raises:
        UnknownNameError: there is no such group.
        InputError: a group is named twice.

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
        checks.extend(_run(name, GROUPS[name]()))
    wrong = sum(not one.ok for one in checks)
    ok = bool(checks) and not wrong
    return Selftested(
        ok=ok,
        sentence=sentence(ok, wrong, len(checks)),
        seconds=round(sum(one.seconds for one in checks), 3),
        checks=tuple(checks),
        environment=versions(),
    )


def _run(group: str, checks: Checks) -> Iterator[Check]:
    """Complete each check with its group, its time and what is wrong."""
    found: Check | None = None
    crashed = False
    while not crashed:
        started = time.perf_counter()
        try:
            found = next(checks, None)
        except Exception as error:  # noqa: BLE001 (whatever is broken, the other checks go on)
            told = " ".join(f"{type(error).__name__}: {error}".split())
            found, crashed = check("runs", "runs to its end", told, False, Fault.CRASHED), True
        if found is None:
            return
        cause = None if found.ok or found.cause is None else found.cause
        seconds = round(time.perf_counter() - started, 3)
        fault = None if cause is None else FAULTS[cause]
        yield found.with_(name=f"{group}/{found.name}", seconds=seconds, cause=cause, fault=fault)
