"""``reticent selftest``: does this installation give right numbers?"""

from reticent.cli.flags import Several, Switch
from reticent.cli.screen import say, show, stderr, stdout


def selftest(*, only: Several = None, json: Switch = False) -> None:
    """Check that this installation gives right numbers, in less than a minute; exit with 1 if it does not.

    A planted leak must be found by every attack, and none where there is none; formulas must equal closed forms; a
    small audit is trained. It needs no network, and no files but in a temporary folder, which is removed.

    Args:
        only: A group of checks to run; repeat it for several. By default all: metrics, limits, epsilon, margins,
            membership, memorisation, formulas, leak, null, own-references, networks, eval-mode, optimizers and engine.
        json: As JSON, for programs.

    Raises:
        SystemExit: with 1 if a number is wrong.
    """
    import json as writer

    from reticent.jobs.selftest import selftest as run
    from reticent.report.kinds.selftest import selftest as blocks

    tell = None if json else lambda group: say(f"checking {group}", style="dim", to=stderr())
    tested = run(only or (), progress=tell)
    if json:
        stdout().out(writer.dumps(tested.to_json(), indent=2, allow_nan=False), highlight=False)
    else:
        show(*blocks(tested))
    if not tested.ok:
        raise SystemExit(1)
